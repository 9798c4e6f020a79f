// Structures by value with pointers in them; initialisers that are addresses, packed and not.
struct Inner { short k; float *values; };
struct View { char tag; const int *from; int n; Inner inner; int *to; };

extern "C" __global__ void copy(View v)
{
    int i = threadIdx.x;
    if (i < v.n) {
        v.to[i] = v.from[i] + v.tag;
        if (v.inner.values) v.inner.values[i] = v.inner.k * i;
    }
}

__device__ int data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int constants[4] = {9, 8, 7, 6};
struct Node { char tag; const int *where; short s; };
__device__ Node nodes[2] = {{'a', data + 3, 7}, {'b', &constants[1], 8}};
struct __attribute__((packed)) Packed { char tag; const int *where; };
__device__ Packed packed[2] = {{'x', data + 1}, {'y', data + 2}};

extern "C" __global__ void follow(int *out)
{
    int i = threadIdx.x & 1;
    Packed p = packed[i];
    out[threadIdx.x] = 10000 * *nodes[i].where + 100 * nodes[i].s + *p.where;
}
