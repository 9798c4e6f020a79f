// When each SM starts its blocks.  Prints one JSON object of figures, and with an argument writes what they were computed
// from: per launch lines of "block SM start end order".
#include "common.cuh"
#include <cstring>

struct Stamp {
  unsigned sm, begin, end, order;
};

template <int REGISTERS> __global__ void stamped(Stamp *stamps, unsigned *arrived, float *sink, unsigned work) {
  unsigned begin = now(), sm = own_sm();
  float x = threadIdx.x;
  for (unsigned k = 0; k < work; ++k) x = x * 1.0001f + 1.0f;
  if (x == -1.0f) sink[0] = x;
  if (threadIdx.x == 0) {
    unsigned order = atomicAdd(arrived, 1u);
    stamps[blockIdx.x] = {sm, begin, now(), order};
  }
}

int main(int count, char **names) {
  Stamp *stamps = allocate<Stamp>(1 << 16);
  unsigned *arrived = allocate<unsigned>(1);
  float *sink = allocate<float>(1);
  FILE *file = count > 1 ? fopen(names[1], "w") : nullptr;
  for (unsigned threads : {32u, 128u, 256u, 512u, 1024u})
    for (unsigned blocks : {132u, 1056u, 4096u})
      for (unsigned work : {0u, 64u, 512u}) {
        for (int warm = 0; warm < 2; ++warm) {
          CHECK(cudaMemset(arrived, 0, 4));
          stamped<0><<<blocks, threads>>>(stamps, arrived, sink, work);
          finish();
        }
        std::vector<Stamp> found = download(stamps, blocks);
        if (file) {
          fprintf(file, "# %u x %u work %u\n", blocks, threads, work);
          for (unsigned k = 0; k < blocks; ++k)
            fprintf(file, "%u %u %u %u %u\n", k, found[k].sm, found[k].begin, found[k].end, found[k].order);
        }
        // By SM: cycles from its first block to its second, and to its last.
        std::vector<std::vector<unsigned>> begins(256);
        for (unsigned k = 0; k < blocks; ++k) begins[found[k].sm].push_back(found[k].begin - found[0].begin);
        double second = 0, last = 0, sms = 0;
        for (std::vector<unsigned> &each : begins) {
          if (each.size() < 2) continue;
          std::sort(each.begin(), each.end());
          second += each[1] - each[0];
          last += each.back() - each[0];
          ++sms;
        }
        if (sms) report(second / sms, "%ux%u.work%u.second", blocks, threads, work);
        if (sms) report(last / sms, "%ux%u.work%u.last", blocks, threads, work);
      }
  end_report();
  return 0;
}
