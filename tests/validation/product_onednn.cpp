// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/validation/product_libraries.hpp"

#include <dnnl.hpp>

#include <memory>
#include <type_traits>

namespace bellwether::test {

template <class T>
void add_onednn(std::vector<ProductLibrary<T>>& libraries) {
  using namespace dnnl;
  static engine const cpu(engine::kind::cpu, 0);
  static stream on(cpu);
  auto const* const version = dnnl_version();
  std::string const name = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor);
  libraries.push_back(
      {name, [](ProductShape const& p, ProductData<T>& data) {
         constexpr auto type = std::is_same_v<T, float> ? memory::data_type::f32 : memory::data_type::bf16;
         auto const described = [](Index rows, Index columns, Op op) {
           return memory::desc({rows, columns}, type,
                               op == Op::none ? memory::dims{columns, 1} : memory::dims{1, rows});
         };
         auto const a = described(p.m, p.k, p.op_a), b = described(p.k, p.n, p.op_b), c = described(p.m, p.n, Op::none);
         auto const product = std::make_shared<matmul>(matmul::primitive_desc(matmul::desc(a, b, c), cpu));
         std::unordered_map<int, memory> const operands{{DNNL_ARG_SRC, memory(a, cpu, data.a.data())},
                                                        {DNNL_ARG_WEIGHTS, memory(b, cpu, data.b.data())},
                                                        {DNNL_ARG_DST, memory(c, cpu, data.c.data())}};
         return std::function<void()>([=] {
           product->execute(on, operands);
           on.wait();
         });
       }});
}
template void add_onednn(std::vector<ProductLibrary<float>>&);
template void add_onednn(std::vector<ProductLibrary<bf16>>&);

}  // namespace bellwether::test
