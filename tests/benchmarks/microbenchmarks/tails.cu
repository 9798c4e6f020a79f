// When blocks start in the room of warps that have ended, all but one of each block, and on which scheduler: prints one
// JSON object of figures of the first SM, and with an argument writes what they were computed from: per case lines of
// "block warp place begin end".
#include "common.cuh"

__global__ void tails(unsigned *stamps, unsigned body, unsigned tail, unsigned which) {
  unsigned begin = now(), sm = own_sm(), place = own_place(), warp = threadIdx.x / 32;
  __syncthreads();
  unsigned until = warp == which ? tail : body;
  while (now() - begin < until) {}
  if (threadIdx.x % 32 == 0) {
    unsigned *own = stamps + (blockIdx.x * (blockDim.x / 32) + warp) * 4;
    own[0] = sm;
    own[1] = place;
    own[2] = begin;
    own[3] = now();
  }
}

int main(int count, char **names) {
  unsigned *stamps = allocate<unsigned>(1 << 22);
  FILE *file = count > 1 ? fopen(names[1], "w") : nullptr;
  for (unsigned threads : {64u, 128u, 256u, 512u, 1024u})
    for (unsigned which : {0u, threads / 64})
      for (unsigned tail : {1000u, 4000u, 10000u}) {
        unsigned blocks = SMS * 2048 / threads * 6, warps = threads / 32;
        for (int warm = 0; warm < 2; ++warm) tails<<<blocks, threads>>>(stamps, 1000, tail, which), finish();
        std::vector<unsigned> found = download(stamps, blocks * warps * 4);
        if (file) fprintf(file, "# %u x %u tail %u of warp %u\n", blocks, threads, tail, which);
        std::vector<std::pair<unsigned, int>> changes;  // when a block of this SM begins and ends
        unsigned last = 0, schedulers[4] = {};
        for (unsigned b = 0; b < blocks; ++b) {
          const unsigned *of = &found[4 * b * warps];
          if (of[0] != found[0]) continue;
          unsigned begin = ~0u, end = 0;
          for (unsigned w = 0; w < warps; ++w) {
            begin = std::min(begin, of[4 * w + 2] - found[2]);
            end = std::max(end, of[4 * w + 3] - found[2]);
            if (file) fprintf(file, "%u %u %u %u %u\n", b, w, of[4 * w + 1], of[4 * w + 2], of[4 * w + 3]);
          }
          changes.push_back({begin, 1});
          changes.push_back({end, -1});
          last = std::max(last, end);
          ++schedulers[of[1] % 4];
        }
        std::sort(changes.begin(), changes.end());
        int now = 0, most = 0;
        for (std::pair<unsigned, int> &change : changes) most = std::max(most, now += change.second);
        report(2.0 * last / changes.size(), "%u.tail%u.warp%u.block", threads, tail, which);
        report(most, "%u.tail%u.warp%u.most", threads, tail, which);
        for (int s = 0; s < 4; ++s) report(schedulers[s], "%u.tail%u.warp%u.scheduler%d", threads, tail, which, s);
      }
  end_report();
  return 0;
}
