// Descriptions of nests made by hand, as simtlab-loops gives them.
#pragma once

#include <string>
#include <vector>

#include "models/loops/description.h"

namespace simtlab::models::loops::test {

// Two loops i (outer, `rows` = input 0) and j (inner, `columns` = input 1) around one load from input 2 and
// one store to input 3, with offsets given as JSON expressions.
inline std::string nest_json(const std::string& load, const std::string& store,
                             const std::string& dependences = "[]", int load_bytes = 4) {
  const std::string bytes = std::to_string(load_bytes);
  return R"({"function":"f","file":"f.c","line":3,"column":3,"inlined":[],
    "inputs":[
      {"name":"rows","type":"int @","pointer":false,"float":false,"bits":32,"restrict":false,"object":"","object_bytes":0},
      {"name":"columns","type":"int @","pointer":false,"float":false,"bits":32,"restrict":false,"object":"","object_bytes":0},
      {"name":"in","type":"const float *@","pointer":true,"float":false,"bits":64,"restrict":true,"object":"","object_bytes":0},
      {"name":"out","type":"float *@","pointer":true,"float":false,"bits":64,"restrict":true,"object":"","object_bytes":0}],
    "loops":[
      {"parent":-1,"level":0,"line":3,"column":3,"name":"i","trips":["smax",32,["const",32,0],["arg",32,0]],"most_trips":["arg",32,0],"block":1},
      {"parent":0,"level":1,"line":4,"column":5,"name":"j","trips":["smax",32,["const",32,0],["arg",32,1]],"most_trips":["arg",32,1],"block":2}],
    "accesses":[
      {"place":[5,10,""],"store":false,"bytes":)" +
         bytes + R"(,"input":2,"float":true,"loop":1,"block":3,"offset":)" + load + R"(},
      {"place":[5,5,""],"store":true,"bytes":)" +
         bytes + R"(,"input":3,"float":true,"loop":1,"block":3,"offset":)" + store + R"(}],
    "blocks":[
      {"loop":-1,"successors":[1],"instructions":[],"outgoing":[]},
      {"loop":0,"successors":[6,5],"instructions":[],"outgoing":[]},
      {"loop":1,"successors":[3,4],"instructions":[],"outgoing":[]},
      {"loop":1,"successors":[2],"instructions":[
        {"id":10,"uses":[],"words":1,"line":5,"class":"load","count":1,"access":0},
        {"id":11,"uses":[10],"words":1,"line":5,"class":"fp32","count":1,"flops":1},
        {"id":12,"uses":[11],"words":0,"line":5,"class":"store","count":1,"access":1}],"outgoing":[]},
      {"loop":0,"successors":[1],"instructions":[],"outgoing":[]},
      {"loop":-1,"successors":[],"instructions":[],"outgoing":[]},
      {"loop":0,"successors":[2],"instructions":[],"outgoing":[]}],
    "dependences":)" +
         dependences + "}";
}

inline std::string times(int factor, const std::string& e) {
  return R"(["*",64,["const",64,)" + std::to_string(factor) + "]," + e + "]";
}
// base + i * step_i + j * step_j, in elements, times the size of an element.
inline std::string offset(const std::string& step_i, const std::string& step_j, int element = 4,
                          int base = 0) {
  return times(element, R"(["sext",64,["+",32,["const",32,)" + std::to_string(base) +
                            R"(],["iv",32,0,["const",32,0],)" + step_i + R"(],["iv",32,1,["const",32,0],)" +
                            step_j + "]]]");
}
inline const std::string one = R"(["const",32,1])", none = R"(["const",32,0])", rows = R"(["arg",32,0])",
                         columns = R"(["arg",32,1])";

}  // namespace simtlab::models::loops::test
