// Figures that pin the equations of the models: pure data.
//
// hk2009-worked-example: the worked example of Hong and Kim (ISCA 2009, sections 3.5 and 4), in exact arithmetic; the paper rounds MWP to 2.28
// and prints 50738 cycles. hk-gtx280-shape: that program with the constants that the paper gives for the GTX 280. The others are computed from
// the equations of docs/models.md by an independent program and are no figures of a paper.
#pragma once

#include <string_view>
#include <vector>

namespace simtlab::predict {

struct Expected {
  std::string_view name;   // of a term
  double value;
};

struct ReferenceCase {
  std::string_view name, model;
  std::string_view counts;            // a counts file
  std::vector<Expected> order, paper;   // by rule; the same of a model without rules
  int order_case = 0, paper_case = 0;
};

inline const std::vector<ReferenceCase>& reference_cases() {
  static const std::vector<ReferenceCase> cases = {
      {"hk2009-worked-example", "mwp-cwp",
       "blocks = 80\nthreads_per_block = 128\nactive_blocks_per_sm = 5\nactive_sms = 16\ncomp_insts = 27\n"
       "uncoal_mem_insts = 6\ncoal_mem_insts = 0\nuncoal_per_mw = 32\nmem_ld = 420\ndeparture_del_uncoal = 10\n"
       "departure_del_coal = 4\nfreq = 1.0\nmem_bandwidth = 80\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 6\n",
       {{"N", 20}, {"Mem_L_Uncoal", 730}, {"Mem_L", 730.0}, {"Departure_delay", 320.0}, {"MWP_Without_BW_full", 2.28125}, {"BW_per_warp", 0.17534246575342466}, {"MWP_peak_BW", 28.515625}, {"MWP", 2.28125}, {"Comp_cycles", 132}, {"Mem_cycles", 4380}, {"CWP_full", 34.18181818181818}, {"CWP", 20}, {"Rep", 1.0}, {"Exec", 38428.1875}, {"Synch_cost", 12300.0}, {"Exec_total", 50728.1875}, {"CPI", 76.86089015151515}},
       {{"N", 20}, {"Mem_L_Uncoal", 730}, {"Mem_L", 730.0}, {"Departure_delay", 320.0}, {"MWP_Without_BW_full", 2.28125}, {"BW_per_warp", 0.17534246575342466}, {"MWP_peak_BW", 28.515625}, {"MWP", 2.28125}, {"Comp_cycles", 132}, {"Mem_cycles", 4380}, {"CWP_full", 34.18181818181818}, {"CWP", 20}, {"Rep", 1.0}, {"Exec", 38428.1875}, {"Synch_cost", 12300.0}, {"Exec_total", 50728.1875}, {"CPI", 76.86089015151515}},
       2, 2},
      {"hk-compute-bound-trap", "mwp-cwp",
       "blocks = 80\nthreads_per_block = 128\nactive_blocks_per_sm = 5\nactive_sms = 16\ncomp_insts = 2000\n"
       "uncoal_mem_insts = 0\ncoal_mem_insts = 6\nuncoal_per_mw = 32\nmem_ld = 420\ndeparture_del_uncoal = 10\n"
       "departure_del_coal = 4\nfreq = 1.0\nmem_bandwidth = 80\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 0\n",
       {{"N", 20}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 16.40625}, {"Comp_cycles", 8024}, {"Mem_cycles", 2520}, {"CWP_full", 1.3140578265204388}, {"CWP", 1.3140578265204388}, {"Rep", 1.0}, {"Exec", 160900.0}, {"Synch_cost", 0.0}, {"Exec_total", 160900.0}, {"CPI", 4.010468594217348}},
       {{"N", 20}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 16.40625}, {"Comp_cycles", 8024}, {"Mem_cycles", 2520}, {"CWP_full", 1.3140578265204388}, {"CWP", 1.3140578265204388}, {"Rep", 1.0}, {"Exec", 23675.291666666664}, {"Synch_cost", 0.0}, {"Exec_total", 23675.291666666664}, {"CPI", 0.5901119557992688}},
       3, 2},
      {"hk-case3", "mwp-cwp",
       "blocks = 128\nthreads_per_block = 128\nactive_blocks_per_sm = 4\nactive_sms = 16\ncomp_insts = 100\n"
       "uncoal_mem_insts = 0\ncoal_mem_insts = 6\nuncoal_per_mw = 32\nmem_ld = 420\ndeparture_del_uncoal = 10\n"
       "departure_del_coal = 4\nfreq = 1.0\nmem_bandwidth = 80\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 0\n",
       {{"N", 16}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 16}, {"Comp_cycles", 424}, {"Mem_cycles", 2520}, {"CWP_full", 6.943396226415095}, {"CWP", 6.943396226415095}, {"Rep", 2.0}, {"Exec", 14408.0}, {"Synch_cost", 0.0}, {"Exec_total", 14408.0}, {"CPI", 4.247641509433962}},
       {{"N", 16}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 16}, {"Comp_cycles", 424}, {"Mem_cycles", 2520}, {"CWP_full", 6.943396226415095}, {"CWP", 6.943396226415095}, {"Rep", 2.0}, {"Exec", 14408.0}, {"Synch_cost", 0.0}, {"Exec_total", 14408.0}, {"CPI", 4.247641509433962}},
       3, 3},
      {"hk-case1-one-warp", "mwp-cwp",
       "blocks = 16\nthreads_per_block = 32\nactive_blocks_per_sm = 1\nactive_sms = 16\ncomp_insts = 27\n"
       "uncoal_mem_insts = 0\ncoal_mem_insts = 6\nuncoal_per_mw = 32\nmem_ld = 420\ndeparture_del_uncoal = 10\n"
       "departure_del_coal = 4\nfreq = 1.0\nmem_bandwidth = 80\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 0\n",
       {{"N", 1}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 1}, {"Comp_cycles", 132}, {"Mem_cycles", 2520}, {"CWP_full", 20.09090909090909}, {"CWP", 1}, {"Rep", 1.0}, {"Exec", 2652.0}, {"Synch_cost", 0.0}, {"Exec_total", 2652.0}, {"CPI", 80.36363636363636}},
       {{"N", 1}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 1}, {"Comp_cycles", 132}, {"Mem_cycles", 2520}, {"CWP_full", 20.09090909090909}, {"CWP", 1}, {"Rep", 1.0}, {"Exec", 2652.0}, {"Synch_cost", 0.0}, {"Exec_total", 2652.0}, {"CPI", 80.36363636363636}},
       1, 1},
      {"hk-case1-two-warps", "mwp-cwp",
       "blocks = 16\nthreads_per_block = 64\nactive_blocks_per_sm = 1\nactive_sms = 16\ncomp_insts = 27\n"
       "uncoal_mem_insts = 0\ncoal_mem_insts = 6\nuncoal_per_mw = 32\nmem_ld = 420\ndeparture_del_uncoal = 10\n"
       "departure_del_coal = 4\nfreq = 1.0\nmem_bandwidth = 80\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 3\n",
       {{"N", 2}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 2}, {"Comp_cycles", 132}, {"Mem_cycles", 2520}, {"CWP_full", 20.09090909090909}, {"CWP", 2}, {"Rep", 1.0}, {"Exec", 2674.0}, {"Synch_cost", 12.0}, {"Exec_total", 2686.0}, {"CPI", 40.696969696969695}},
       {{"N", 2}, {"Mem_L_Uncoal", 730}, {"Mem_L", 420.0}, {"Departure_delay", 4.0}, {"MWP_Without_BW_full", 105.0}, {"BW_per_warp", 0.3047619047619048}, {"MWP_peak_BW", 16.40625}, {"MWP", 2}, {"Comp_cycles", 132}, {"Mem_cycles", 2520}, {"CWP_full", 20.09090909090909}, {"CWP", 2}, {"Rep", 1.0}, {"Exec", 2674.0}, {"Synch_cost", 12.0}, {"Exec_total", 2686.0}, {"CPI", 40.696969696969695}},
       1, 1},
      {"hk-mixed-coalescing", "mwp-cwp",
       "blocks = 160\nthreads_per_block = 128\nactive_blocks_per_sm = 5\nactive_sms = 16\ncomp_insts = 27\n"
       "uncoal_mem_insts = 2\ncoal_mem_insts = 4\nuncoal_per_mw = 32\nmem_ld = 420\ndeparture_del_uncoal = 10\n"
       "departure_del_coal = 4\nfreq = 1.0\nmem_bandwidth = 80\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 6\n",
       {{"N", 20}, {"Mem_L_Uncoal", 730}, {"Mem_L", 523.3333333333333}, {"Departure_delay", 109.33333333333333}, {"MWP_Without_BW_full", 4.786585365853658}, {"BW_per_warp", 0.24458598726114653}, {"MWP_peak_BW", 20.442708333333332}, {"MWP", 4.786585365853658}, {"Comp_cycles", 132}, {"Mem_cycles", 3140}, {"CWP_full", 24.78787878787879}, {"CWP", 20}, {"Rep", 2.0}, {"Exec", 26406.609756097565}, {"Synch_cost", 19680.0}, {"Exec_total", 46086.60975609756}, {"CPI", 34.91409830007391}},
       {{"N", 20}, {"Mem_L_Uncoal", 730}, {"Mem_L", 523.3333333333333}, {"Departure_delay", 109.33333333333333}, {"MWP_Without_BW_full", 4.786585365853658}, {"BW_per_warp", 0.24458598726114653}, {"MWP_peak_BW", 20.442708333333332}, {"MWP", 4.786585365853658}, {"Comp_cycles", 132}, {"Mem_cycles", 3140}, {"CWP_full", 24.78787878787879}, {"CWP", 20}, {"Rep", 2.0}, {"Exec", 26406.609756097565}, {"Synch_cost", 19680.0}, {"Exec_total", 46086.60975609756}, {"CPI", 34.91409830007391}},
       2, 2},
      {"hk-gtx280-shape", "mwp-cwp",
       "blocks = 300\nthreads_per_block = 128\nactive_blocks_per_sm = 4\nactive_sms = 30\ncomp_insts = 27\n"
       "uncoal_mem_insts = 6\ncoal_mem_insts = 0\nuncoal_per_mw = 5.7\nmem_ld = 450\ndeparture_del_uncoal = 40\n"
       "departure_del_coal = 4\nfreq = 1.3\nmem_bandwidth = 141.7\nload_bytes_per_warp = 128\nissue_cycles = 4\n"
       "synch_insts = 6\n",
       {{"N", 16}, {"Mem_L_Uncoal", 638.0}, {"Mem_L", 638.0}, {"Departure_delay", 228.0}, {"MWP_Without_BW_full", 2.7982456140350878}, {"BW_per_warp", 0.2608150470219436}, {"MWP_peak_BW", 18.109895833333333}, {"MWP", 2.7982456140350878}, {"Comp_cycles", 132}, {"Mem_cycles", 3828.0}, {"CWP_full", 30.0}, {"CWP", 16}, {"Rep", 2.5}, {"Exec", 54818.903508771924}, {"Synch_cost", 24600.0}, {"Exec_total", 79418.90350877192}, {"CPI", 60.16583599149388}},
       {{"N", 16}, {"Mem_L_Uncoal", 638.0}, {"Mem_L", 638.0}, {"Departure_delay", 228.0}, {"MWP_Without_BW_full", 2.7982456140350878}, {"BW_per_warp", 0.2608150470219436}, {"MWP_peak_BW", 18.109895833333333}, {"MWP", 2.7982456140350878}, {"Comp_cycles", 132}, {"Mem_cycles", 3828.0}, {"CWP_full", 30.0}, {"CWP", 16}, {"Rep", 2.5}, {"Exec", 54818.903508771924}, {"Synch_cost", 24600.0}, {"Exec_total", 79418.90350877192}, {"CPI", 60.16583599149388}},
       2, 2},
      {"sim-synthetic-1", "mwp-cwp-2012",
       "total_warps = 4480\nactive_sms = 14\nn = 32\ninsts = 400\nmem_insts = 40\n"
       "sync_insts = 0\nsfu_insts = 0\nfp_insts = 200\navg_inst_lat = 18\nfp_lat = 18\n"
       "ilp = 1.5\nmlp = 2\nwarp_size = 32\nsimd_width = 32\nsfu_width = 4\n"
       "dram_lat = 440\nhit_lat = 18\nmiss_ratio = 0.6\navg_trans_warp = 1\ndelta = 20\n"
       "mem_peak_bandwidth = 144\nfreq = 1.15\ntransaction_size = 128\ngamma = 64\no_cfdiv = 0\n"
       "o_bank = 0\nuseful_bytes = 13762560.0\n",
       {{"ITILP_max", 18.0}, {"ITILP", 18.0}, {"W_parallel", 128000.0}, {"avg_DRAM_lat", 440}, {"F_sync", 2816.0}, {"O_sync", 0.0}, {"F_SFU", 0}, {"O_SFU", 0.0}, {"W_serial", 0.0}, {"T_comp", 128000.0}, {"AMAT", 282.0}, {"BW_per_warp", 0.33454545454545453}, {"MWP_peak_bw", 30.74534161490683}, {"MWP", 22.0}, {"comp_cycles", 400.0}, {"mem_cycles", 5640.0}, {"CWP_full", 15.1}, {"CWP", 15.1}, {"MWP_cp", 14.1}, {"ITMLP", 28.2}, {"T_mem", 128000.00000000001}, {"F_overlap", 0.96875}, {"T_overlap", 124000.0}, {"T_exec", 132000.0}, {"B_serial", 0.0}, {"B_itilp", 0.0}, {"T_fp", 64000.0}, {"B_fp", 64000.0}, {"T_mem_min", 109909.33333333331}, {"T'_mem", 4000.0000000000146}, {"B_memlp", 0}},
       {{"ITILP_max", 18.0}, {"ITILP", 18.0}, {"W_parallel", 128000.0}, {"avg_DRAM_lat", 440}, {"F_sync", 2816.0}, {"O_sync", 0.0}, {"F_SFU", 0}, {"O_SFU", 0.0}, {"W_serial", 0.0}, {"T_comp", 128000.0}, {"AMAT", 282.0}, {"BW_per_warp", 0.33454545454545453}, {"MWP_peak_bw", 30.74534161490683}, {"MWP", 22.0}, {"comp_cycles", 400.0}, {"mem_cycles", 5640.0}, {"CWP_full", 15.1}, {"CWP", 15.1}, {"MWP_cp", 14.1}, {"ITMLP", 28.2}, {"T_mem", 128000.00000000001}, {"F_overlap", 0.96875}, {"T_overlap", 124000.0}, {"T_exec", 132000.0}, {"B_serial", 0.0}, {"B_itilp", 0.0}, {"T_fp", 64000.0}, {"B_fp", 64000.0}, {"T_mem_min", 109909.33333333331}, {"T'_mem", 4000.0000000000146}, {"B_memlp", 0}},
       0, 0},
      {"sim-synthetic-2", "mwp-cwp-2012",
       "total_warps = 4480\nactive_sms = 14\nn = 8\ninsts = 400\nmem_insts = 40\n"
       "sync_insts = 2\nsfu_insts = 100\nfp_insts = 200\navg_inst_lat = 18\nfp_lat = 18\n"
       "ilp = 1.5\nmlp = 2\nwarp_size = 32\nsimd_width = 32\nsfu_width = 4\n"
       "dram_lat = 440\nhit_lat = 18\nmiss_ratio = 0.6\navg_trans_warp = 4\ndelta = 20\n"
       "mem_peak_bandwidth = 144\nfreq = 1.15\ntransaction_size = 128\ngamma = 64\no_cfdiv = 1000\n"
       "o_bank = 500\nuseful_bytes = 13762560.0\n",
       {{"ITILP_max", 18.0}, {"ITILP", 12.0}, {"W_parallel", 192000.0}, {"avg_DRAM_lat", 500}, {"F_sync", 3200.0}, {"O_sync", 2048000.0}, {"F_SFU", 0.125}, {"O_SFU", 32000.0}, {"W_serial", 2081500.0}, {"T_comp", 2273500.0}, {"AMAT", 318.0}, {"BW_per_warp", 0.2944}, {"MWP_peak_bw", 34.93788819875776}, {"MWP", 8}, {"comp_cycles", 600.0}, {"mem_cycles", 6360.0}, {"CWP_full", 11.6}, {"CWP", 8}, {"MWP_cp", 7}, {"ITMLP", 14}, {"T_mem", 290742.85714285716}, {"F_overlap", 0.875}, {"T_overlap", 290742.85714285716}, {"T_exec", 2273500.0}, {"B_serial", 2081500.0}, {"B_itilp", 64000.0}, {"T_fp", 64000.0}, {"B_fp", 64000.0}, {"T_mem_min", 109909.33333333331}, {"T'_mem", 0.0}, {"B_memlp", 0}},
       {{"ITILP_max", 18.0}, {"ITILP", 12.0}, {"W_parallel", 192000.0}, {"avg_DRAM_lat", 500}, {"F_sync", 3200.0}, {"O_sync", 2048000.0}, {"F_SFU", 0.125}, {"O_SFU", 32000.0}, {"W_serial", 2081500.0}, {"T_comp", 2273500.0}, {"AMAT", 318.0}, {"BW_per_warp", 0.2944}, {"MWP_peak_bw", 34.93788819875776}, {"MWP", 8}, {"comp_cycles", 600.0}, {"mem_cycles", 6360.0}, {"CWP_full", 11.6}, {"CWP", 8}, {"MWP_cp", 7}, {"ITMLP", 14}, {"T_mem", 290742.85714285716}, {"F_overlap", 0.875}, {"T_overlap", 290742.85714285716}, {"T_exec", 2273500.0}, {"B_serial", 2081500.0}, {"B_itilp", 64000.0}, {"T_fp", 64000.0}, {"B_fp", 64000.0}, {"T_mem_min", 109909.33333333331}, {"T'_mem", 0.0}, {"B_memlp", 0}},
       0, 0},
  };
  return cases;
}

}  // namespace simtlab::predict
