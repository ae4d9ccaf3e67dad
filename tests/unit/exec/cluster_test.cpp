// Clusters: where a block is in one, shared memory of other blocks, the barrier.
#include "exec/cluster.h"

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* variables = "  .shared .align 4 .b32 s[64];\n";
const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";

// Blocks of 32 threads, in clusters of so many.
std::vector<std::uint32_t> in_clusters(const std::string& body, unsigned blocks, unsigned cluster) {
  Machine m(lane_kernel(body, {}, variables));
  m.params.cluster = {cluster, 1, 1};
  return run_lanes(m, blocks * 32, 32);
}

TEST(Cluster, a_block_of_each_rank_has_a_place_in_the_grid) {
  const Dim3 grid{6, 4, 2}, cluster{3, 2, 1};
  std::vector<bool> seen(grid.count());
  for (std::uint64_t i = 0; i < grid.count(); ++i) {
    const std::uint64_t block = block_by_clusters(grid, cluster, i);
    ASSERT_LT(block, grid.count());
    EXPECT_FALSE(seen[block]);
    seen[block] = true;
    const ClusterPlace place = place_in_cluster(grid, cluster, block);
    EXPECT_EQ(place.number, i / cluster.count());
    EXPECT_EQ(place.rank, i % cluster.count());
  }
  EXPECT_EQ(block_by_clusters(grid, {1, 1, 1}, 17), 17u);
}

TEST(Cluster, special_registers_say_where_a_block_is) {
  const std::string body = R"(
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mov.u32 %r4, %clusterid.x;
  mov.u32 %r5, %nclusterid.x;
  shl.b32 %r3, %r3, 8; shl.b32 %r4, %r4, 16; shl.b32 %r5, %r5, 24;
  or.b32 %r1, %r2, %r3; or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5;
)";
  const auto got = in_clusters(body, 4, 2);
  EXPECT_THAT((std::vector{got[0], got[32], got[64], got[96]}),
              ElementsAre(0x02000200u, 0x02000201u, 0x02010200u, 0x02010201u));
}

TEST(Cluster, a_block_reads_what_another_one_wrote) {
  const std::string body = R"(
  shl.b32 %r5, %r62, 2;
  mov.u32 %r6, s;
  add.u32 %r6, %r6, %r5;
  st.shared.u32 [%r6], %r0;
)" + meet + R"(
  mov.u32 %r7, %cluster_ctarank;
  xor.b32 %r7, %r7, 1;
  mapa.shared::cluster.u32 %r8, %r6, %r7;
  ld.shared::cluster.u32 %r1, [%r8];
  getctarank.shared::cluster.u32 %r9, %r8;
  mad.lo.u32 %r1, %r9, 1000, %r1;
)" + meet;
  const auto got = in_clusters(body, 4, 2);
  EXPECT_EQ(got[0], 1032u);
  EXPECT_EQ(got[32 + 5], 5u);
  EXPECT_EQ(got[64 + 31], 1127u);
}

TEST(Cluster, generic_addresses_say_whose_memory_they_are) {
  const std::string body = R"(
  mov.u64 %rd5, s;
  cvta.shared.u64 %rd6, %rd5;
  st.u32 [%rd6], %r60;
)" + meet + R"(
  mov.u32 %r7, 0;
  mapa.u64 %rd7, %rd6, %r7;
  ld.u32 %r1, [%rd7];
  getctarank.u64 %r9, %rd6;
  mad.lo.u32 %r1, %r9, 100, %r1;
)" + meet;
  const auto got = in_clusters(body, 4, 4);
  EXPECT_THAT((std::vector{got[0], got[32], got[64], got[96]}), ElementsAre(0u, 100u, 200u, 300u));
}

// An address without mapa, through memory, is that of the block that wrote it.
TEST(Cluster, an_address_that_is_handed_on_stays_its_owners) {
  const std::string body = R"(
  mov.u32 %r6, s;
  add.u32 %r5, %r60, 7;
  st.shared.u32 [s], %r5;
  setp.ne.u32 %p1, %r60, 1;
  @!%p1 st.global.u32 [%rd2], %r6;
)" + meet + R"(
  ld.global.u32 %r8, [%rd2];
  ld.shared::cluster.u32 %r1, [%r8];
  ld.shared.u32 %r9, [s];
  mad.lo.u32 %r1, %r9, 100, %r1;
)" + meet;
  const auto got = in_clusters(body, 2, 2);
  EXPECT_THAT((std::vector{got[0], got[32]}), ElementsAre(708u, 808u));
}

TEST(Cluster, threads_that_have_exited_are_not_awaited) {
  const std::string body =
      "  setp.ge.u32 %p1, %r62, 16;\n  setp.eq.u32 %p2, %r60, 1;\n"
      "  and.pred %p1, %p1, %p2;\n  mov.u32 %r1, 9;\n"
      "  @%p1 st.global.u32 [%rd3], %r1;\n  @%p1 exit;\n"
      "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  mov.u32 %r1, 5;\n";
  const auto got = in_clusters(body, 2, 2);
  EXPECT_EQ(got[0], 5u);
  EXPECT_EQ(got[32], 5u);
  EXPECT_EQ(got[32 + 20], 9u);
}

TEST(Cluster, a_block_without_one_is_alone_at_its_barrier) {
  Machine m(
      lane_kernel("  st.shared.u32 [s], %r62;\n" + meet + "  ld.shared.u32 %r1, [s];\n", {}, variables));
  const auto got = run_lanes(m, 128, 64);
  EXPECT_EQ(got[0], got[63]);
}

TEST(Cluster, who_waits_for_a_block_that_never_comes_is_told_of) {
  const std::string body = "  setp.eq.u32 %p1, %r60, 0;\n  @%p1 bra AGAIN;\n" + meet +
                           "  bra END;\nAGAIN:\n  ld.volatile.global.u32 %r4, [%rd2];\n"
                           "  setp.eq.u32 %p2, %r4, 0;\n  @%p2 bra AGAIN;\n";
  EXPECT_THAT(error_of([&] { in_clusters(body, 2, 2); }),
              AllOf(HasSubstr("[deadlock]"), HasSubstr("barrier of the cluster (32 of 64 threads arrived)")));
}

TEST(Cluster, arriving_twice_is_an_error) {
  EXPECT_THAT(error_of([&] {
                in_clusters("  barrier.cluster.arrive;\n  barrier.cluster.arrive;\n  barrier.cluster.wait;\n",
                            2, 2);
              }),
              HasSubstr("arrives twice at the cluster's barrier"));
}

TEST(Cluster, addresses_outside_say_what_is_wrong) {
  const auto access = [](unsigned rank, unsigned offset) {
    return error_of([&] {
      in_clusters(meet + "  mov.u32 %r6, s;\n  mov.u32 %r7, " + std::to_string(rank) +
                      ";\n  mapa.shared::cluster.u32 %r8, %r6, %r7;\n  ld.shared::cluster.u32 %r1, [%r8+" +
                      std::to_string(offset) + "];\n",
                  2, 2);
    });
  };
  EXPECT_THAT(access(2, 0), HasSubstr("there is no block 2 in a cluster of 2 blocks"));
  EXPECT_THAT(access(0, 256),
              HasSubstr("block 0 of the cluster has 256 bytes of shared memory, this is byte 256"));
  EXPECT_THAT(access(1, 0), HasSubstr("block 1 of the cluster has ended"));  // nobody waits for the reader
}

// A block fails before the other one has begun; what the launch does once more is not disturbed by it.
TEST(Cluster, a_run_that_ended_early_leaves_nothing_behind) {
  const std::string body = "  ld.global.u32 %r4, [%rd2];\n  setp.eq.u32 %p1, %r4, 1;\n  @%p1 trap;\n" + meet +
                           "  ld.shared.u32 %r1, [s];\n  st.shared.u32 [s], %r4;\n";
  Machine m(lane_kernel(body, {}, variables));
  m.params.cluster = {2, 1, 1};
  const auto out = m.upload(std::vector<std::uint32_t>(64), "out"),
             in = m.upload(std::vector<std::uint32_t>(64, 1), "in");
  const auto launch = m.prepare({2}, {32}, out, in);
  EXPECT_THROW(run_functional(*launch), Fault);
  const std::vector<std::uint32_t> sevens(64, 7);
  m.memory.write(in, std::as_bytes(std::span(sevens)));
  for (int times = 0; times < 2; ++times) {
    run_functional(*launch);
    EXPECT_THAT(m.download<std::uint32_t>(out, 64), testing::Each(0u));
  }
}

TEST(Cluster, wrong_sizes_are_refused) {
  const auto with = [](Dim3 cluster, const std::string& directive = {}) {
    return error_of([&] {
      Machine m(".visible .entry k() " + directive + " { ret; }\n");
      m.params.cluster = cluster;
      m.params.explicit_cluster = !(cluster == Dim3{});
      m.run({6}, {32});
    });
  };
  EXPECT_THAT(with({4, 1, 1}), HasSubstr("[launch-cluster]"));
  EXPECT_THAT(with({0, 1, 1}), HasSubstr("[launch-cluster]"));
  EXPECT_THAT(with({17, 1, 1}), HasSubstr("exceeds 16 blocks"));
  EXPECT_THAT(with({3, 1, 1}, ".reqnctapercluster 2, 1, 1"), HasSubstr("(.reqnctapercluster)"));
  EXPECT_THAT(with({3, 1, 1}, ".maxclusterrank 2"), HasSubstr("exceeds 2 blocks"));
  EXPECT_THAT(with({}, ".explicitcluster"), HasSubstr("launched with clusters"));
  EXPECT_EQ(with({3, 1, 1}), "no error");
  EXPECT_EQ(with({}, ".reqnctapercluster 2, 1, 1"), "no error");
}

}  // namespace
}  // namespace simtlab::exec
