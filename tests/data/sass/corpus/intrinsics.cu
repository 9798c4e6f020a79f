// Element-wise kernels: each PUT fills the next n elements of the output.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
#define KERNEL extern "C" __global__ void
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; int section = 0
#define PUT(value) o[section++ * n + i] = (value)

KERNEL int32_bits(const int* a, const int* b, u32* o, int n) {
    INDEX;
    int x = a[i], y = b[i];
    PUT(__mul24(x, y)); PUT(__umul24(x, y)); PUT(__mulhi(x, y)); PUT(__umulhi(x, y));
    PUT(__sad(x, y, i)); PUT(__usad(x, y, i)); PUT(__hadd(x, y)); PUT(__rhadd(x, y)); PUT(__uhadd(x, y)); PUT(__urhadd(x, y));
    PUT(__popc(x)); PUT(__clz(x)); PUT(__ffs(x)); PUT(__brev(x));
    PUT(__byte_perm(x, y, 0x3715)); PUT(__byte_perm(x, y, i)); PUT(__byte_perm(x, y, 0x9840));
    PUT(__funnelshift_l(x, y, i)); PUT(__funnelshift_r(x, y, i)); PUT(__funnelshift_lc(x, y, i & 63)); PUT(__funnelshift_rc(x, y, i & 63));
    PUT(__dp4a(x, y, i)); PUT(__dp4a((u32)x, (u32)y, (u32)i));
    PUT(__dp2a_lo(x, y, i)); PUT(__dp2a_hi(x, y, i)); PUT(__dp2a_lo((u32)x, (u32)y, (u32)i)); PUT(__dp2a_hi((u32)x, (u32)y, (u32)i));
    PUT(x / (y | 1)); PUT(x % (y | 1)); PUT((u32)x / (u32)(y | 1)); PUT((u32)x % (u32)(y | 1)); PUT(x / 7); PUT(x % 10); PUT((u32)x / 1000u);
    PUT(x << (y & 31)); PUT(x >> (y & 31)); PUT((u32)x >> (y & 31)); PUT((x >> 5) & 0x3ff); PUT((x << 12) >> 20);
    PUT(min(x, y)); PUT(max(x, y)); PUT(min((u32)x, (u32)y)); PUT(max(min(x, 100), -100)); PUT(abs(x - y)); PUT(x > y ? x - y : y * 3);
    PUT((x & y) | (~x & i)); PUT(x ^ y ^ i); PUT(x * 17 + y); PUT(x + (y << 3)); PUT(-x - y); PUT(!x + (x != y));
    PUT(__fns(x, i & 31, 1 + (y & 3))); PUT((s64)x * y >> 7);
}

KERNEL int32_asm(const int* a, const int* b, u32* o, int n) {
    INDEX;
    int x = a[i], y = b[i];
    u32 r;
    int q;
#define ASM3(text) asm(text " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); PUT(r)
#define ASM4(text, c) asm(text " %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(c)); PUT(r)
    ASM4("bfe.u32", i & 31); ASM4("bfe.s32", i & 31); ASM4("mad.hi.s32", i); ASM4("mad.hi.u32", i); ASM4("mad24.lo.s32", i); ASM4("mad24.hi.u32", i);
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(i & 31), "r"(1 + (i & 15))); PUT(r);
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x)); PUT(r);
    asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x)); PUT(r);
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(x)); PUT(r);
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"(x)); PUT(r);
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(i & 63), "r"(y & 63)); PUT(r);
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(r) : "r"(i & 63), "r"(y & 63)); PUT(r);
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(i & 63)); PUT(r);
    asm("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(i & 63)); PUT(r);
    asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(x & 1)); PUT(r);
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("add.sat.s32 %0, %1, %2;" : "=r"(q) : "r"(x), "r"(y)); PUT(q);
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(q) : "r"(x), "r"(y)); PUT(q);
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i)); PUT(r);
    asm("set.lt.u32.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); PUT(r);
    asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i - 100)); PUT(r);
    u32 lo, mi, hi;  // 96-bit addition and subtraction by carry chains
    asm("add.cc.u32 %0, %3, %4;\n\taddc.cc.u32 %1, %4, %5;\n\taddc.u32 %2, %5, %3;" : "=&r"(lo), "=&r"(mi), "=&r"(hi) : "r"(x), "r"(y), "r"(i));
    PUT(lo); PUT(mi); PUT(hi);
    asm("sub.cc.u32 %0, %3, %4;\n\tsubc.cc.u32 %1, %4, %5;\n\tsubc.u32 %2, %5, %3;" : "=&r"(lo), "=&r"(mi), "=&r"(hi) : "r"(x), "r"(y), "r"(i));
    PUT(lo); PUT(mi); PUT(hi);
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, %4;" : "=&r"(lo), "=&r"(hi) : "r"(x), "r"(y), "r"(i));
    PUT(lo); PUT(hi);
}

KERNEL int32_packed(const int* a, const int* b, u32* o, int n) {
    INDEX;
    u32 x = a[i], y = b[i];
    PUT(__vadd2(x, y)); PUT(__vadd4(x, y)); PUT(__vaddss2(x, y)); PUT(__vaddus2(x, y)); PUT(__vaddss4(x, y)); PUT(__vaddus4(x, y));
    PUT(__vsub2(x, y)); PUT(__vsub4(x, y)); PUT(__vsubss2(x, y)); PUT(__vsubus4(x, y)); PUT(__vneg2(x)); PUT(__vneg4(x)); PUT(__vnegss4(x));
    PUT(__vabs2(x)); PUT(__vabs4(x)); PUT(__vabsss4(x)); PUT(__vabsdiffs2(x, y)); PUT(__vabsdiffu2(x, y)); PUT(__vabsdiffs4(x, y)); PUT(__vabsdiffu4(x, y));
    PUT(__vavgs2(x, y)); PUT(__vavgu2(x, y)); PUT(__vavgs4(x, y)); PUT(__vavgu4(x, y)); PUT(__vhaddu2(x, y)); PUT(__vhaddu4(x, y));
    PUT(__vmaxs2(x, y)); PUT(__vmaxu2(x, y)); PUT(__vmins4(x, y)); PUT(__vminu4(x, y)); PUT(__vmaxs4(x, y)); PUT(__vmaxu4(x, y));
    PUT(__vsads2(x, y)); PUT(__vsadu2(x, y)); PUT(__vsads4(x, y)); PUT(__vsadu4(x, y));
    PUT(__vcmpeq2(x, y)); PUT(__vcmpgts4(x, y)); PUT(__vcmpleu2(x, y)); PUT(__vseteq4(x, y)); PUT(__vsetltu2(x, y)); PUT(__vsetges4(x, y));
}

KERNEL int32_dpx(const int* a, const int* b, u32* o, int n) {
    INDEX;
    int x = a[i], y = b[i], z = a[n - 1 - i];
    bool p, q;
    PUT(__vimax3_s32(x, y, z)); PUT(__vimin3_s32(x, y, z)); PUT(__vimax3_u32(x, y, z)); PUT(__vimin3_u32(x, y, z));
    PUT(__vimax3_s16x2(x, y, z)); PUT(__vimin3_u16x2(x, y, z));
    PUT(__vimax_s32_relu(x, y)); PUT(__vimin_s32_relu(x, y)); PUT(__vimax3_s32_relu(x, y, z)); PUT(__vimin3_s16x2_relu(x, y, z)); PUT(__vimax_s16x2_relu(x, y));
    PUT(__viaddmax_s32(x, y, z)); PUT(__viaddmin_s32(x, y, z)); PUT(__viaddmax_u32(x, y, z)); PUT(__viaddmin_u32(x, y, z));
    PUT(__viaddmax_s32_relu(x, y, z)); PUT(__viaddmin_s32_relu(x, y, z)); PUT(__viaddmax_s16x2(x, y, z)); PUT(__viaddmin_u16x2(x, y, z)); PUT(__viaddmax_s16x2_relu(x, y, z));
    PUT(__vibmax_s32(x, y, &p)); PUT(p); PUT(__vibmin_u32(x, y, &p)); PUT(p);
    PUT(__vibmax_s16x2(x, y, &p, &q)); PUT(2 * p + q); PUT(__vibmin_u16x2(x, y, &p, &q)); PUT(2 * p + q);
}

KERNEL int64_bits(const s64* a, const s64* b, u64* o, int n) {
    INDEX;
    s64 x = a[i], y = b[i];
    s64 d = y ? y : 1;
    PUT(x + y); PUT(x - y); PUT(x * y); PUT(x / d); PUT(x % d); PUT((u64)x / (u64)d); PUT((u64)x % (u64)d); PUT(x / 10); PUT(x % 1000000007);
    PUT(__mul64hi(x, y)); PUT(__umul64hi(x, y)); PUT(__popcll(x)); PUT(__clzll(x)); PUT(__ffsll(x)); PUT(__brevll(x));
    PUT(x << (y & 63)); PUT(x >> (y & 63)); PUT((u64)x >> (y & 63)); PUT(min(x, y)); PUT(max((u64)x, (u64)y)); PUT(llabs(x >> 1));
    PUT(x < y); PUT((u64)x >= (u64)y); PUT((x & y) ^ ~(x | y)); PUT(-x); PUT(x * 10 + (y >> 3)); PUT((u32)x * (u64)(u32)y + x); PUT(x == y ? 5 : x);
    unsigned __int128 w = (unsigned __int128)(u64)x * (u64)y + (u64)i;
    PUT((u64)w); PUT((u64)(w >> 64)); PUT((u64)(w >> (y & 127)));
    __int128 v = (__int128)x - (__int128)y * 3;
    PUT((u64)v); PUT((u64)(v >> 64)); PUT(v < (__int128)x); PUT((u64)(v << 13 >> 64));
}

KERNEL int128_division(const s64* a, const s64* b, u64* o, int n) {
    INDEX;
    unsigned __int128 x = (unsigned __int128)(u64)a[i] << 37 | (u64)b[i];
    __int128 y = (__int128)b[i] * 12345 + 1;
    PUT((u64)(x / (u64)(b[i] | 1))); PUT((u64)(x % ((unsigned __int128)(u64)(a[i] | 1) << 20 | 7)));
    PUT((u64)((__int128)x / (y ? y : 1))); PUT((u64)((__int128)x % (y ? y : 1)));
}

KERNEL narrow_integers(const s8* a, const u8* b, const s16* c, const u16* d, s64* o, int n) {
    INDEX;
    s8 p = a[i];
    u8 q = b[i];
    s16 r = c[i];
    u16 s = d[i];
    PUT(p); PUT(q); PUT(r); PUT(s); PUT((s8)(p + q)); PUT((u8)(p * q)); PUT((s16)(r * s)); PUT((u16)(r - s)); PUT((s8)r); PUT((u8)s); PUT((u16)p); PUT((u32)p);
    PUT((u64)r); PUT(q << 3 ^ s); PUT(p < q); PUT(r > s); PUT((s16)p / (s16)(q | 1)); PUT(s % (q | 1)); PUT(p >> 2); PUT((u8)p >> 3); PUT((s8)(q << 1)); PUT(min(p, (s8)q));
}

KERNEL float_to_integer(const float* a, const double* b, s64* o, int n) {
    INDEX;
    float x = a[i];
    double y = b[i];
    PUT(__float2int_rn(x)); PUT(__float2int_rz(x)); PUT(__float2int_ru(x)); PUT(__float2int_rd(x));
    PUT(__float2uint_rn(x)); PUT(__float2uint_rz(x)); PUT(__float2uint_ru(x)); PUT(__float2uint_rd(x));
    PUT(__float2ll_rn(x)); PUT(__float2ll_rz(x)); PUT(__float2ll_ru(x)); PUT(__float2ll_rd(x));
    PUT(__float2ull_rn(x)); PUT(__float2ull_rz(x)); PUT(__float2ull_ru(x)); PUT(__float2ull_rd(x));
    PUT(__double2int_rn(y)); PUT(__double2int_rz(y)); PUT(__double2int_ru(y)); PUT(__double2int_rd(y));
    PUT(__double2uint_rn(y)); PUT(__double2uint_rz(y)); PUT(__double2uint_ru(y)); PUT(__double2uint_rd(y));
    PUT(__double2ll_rn(y)); PUT(__double2ll_rz(y)); PUT(__double2ll_ru(y)); PUT(__double2ll_rd(y));
    PUT(__double2ull_rn(y)); PUT(__double2ull_rz(y)); PUT(__double2ull_ru(y)); PUT(__double2ull_rd(y));
    PUT(__float_as_int(x)); PUT(__double_as_longlong(y)); PUT(__double2hiint(y)); PUT(__double2loint(y));
    int r;
    s16 h;
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(r) : "f"(x)); PUT(r);
    asm("cvt.rni.u8.f32 %0, %1;" : "=r"(r) : "f"(x)); PUT(r);
    asm("cvt.rni.s16.f32 %0, %1;" : "=h"(h) : "f"(x)); PUT(h);
    asm("cvt.rzi.u16.f64 %0, %1;" : "=h"(h) : "d"(y)); PUT((u16)h);
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(r) : "r"(__float_as_int(x))); PUT(r);
    asm("cvt.sat.u16.s32 %0, %1;" : "=h"(h) : "r"(__float_as_int(x))); PUT((u16)h);
    asm("cvt.rni.ftz.s32.f32 %0, %1;" : "=r"(r) : "f"(x)); PUT(r);
    PUT(lrintf(x)); PUT(llrint(y)); PUT(lroundf(x)); PUT(llround(y)); PUT((s64)x == (s64)y); PUT(signbit(x) + 2 * signbit(y) + 4 * (bool)isnan(x) + 8 * (bool)isinf(y) + 16 * (bool)isfinite(x));
}

KERNEL integer_to_float(const int* a, const s64* b, float* o, double* w, int n) {
    INDEX;
    int x = a[i];
    s64 y = b[i];
    PUT(__int2float_rn(x)); PUT(__int2float_rz(x)); PUT(__int2float_ru(x)); PUT(__int2float_rd(x));
    PUT(__uint2float_rn(x)); PUT(__uint2float_rz(x)); PUT(__uint2float_ru(x)); PUT(__uint2float_rd(x));
    PUT(__ll2float_rn(y)); PUT(__ll2float_rz(y)); PUT(__ll2float_ru(y)); PUT(__ll2float_rd(y));
    PUT(__ull2float_rn(y)); PUT(__ull2float_rz(y)); PUT(__ull2float_ru(y)); PUT(__ull2float_rd(y));
    PUT((float)(s8)x); PUT((float)(u8)(x >> 8)); PUT((float)(s16)(x >> 16)); PUT((float)(u16)x); PUT((float)(u8)(x >> 24)); PUT(__int_as_float(x));
    section = 0;
#define WIDE(value) w[section++ * n + i] = (value)
    WIDE(x); WIDE((u32)x); WIDE(__ll2double_rn(y)); WIDE(__ll2double_rz(y)); WIDE(__ll2double_ru(y)); WIDE(__ll2double_rd(y));
    WIDE(__ull2double_rn(y)); WIDE(__ull2double_rz(y)); WIDE(__ull2double_ru(y)); WIDE(__ull2double_rd(y)); WIDE((double)(s8)x); WIDE((double)(u16)x);
    WIDE(__longlong_as_double(y)); WIDE(__hiloint2double(x, (int)y));
}

KERNEL float32_rounding(const float* a, const float* b, const double* c, float* o, int n) {
    INDEX;
    float x = a[i], y = b[i], z = a[n - 1 - i];
    double d = c[i];
    PUT(__fadd_rn(x, y)); PUT(__fadd_rz(x, y)); PUT(__fadd_ru(x, y)); PUT(__fadd_rd(x, y)); PUT(__fsub_rn(x, y)); PUT(__fsub_ru(x, y));
    PUT(__fmul_rn(x, y)); PUT(__fmul_rz(x, y)); PUT(__fmul_ru(x, y)); PUT(__fmul_rd(x, y));
    PUT(__fmaf_rn(x, y, z)); PUT(__fmaf_rz(x, y, z)); PUT(__fmaf_ru(x, y, z)); PUT(__fmaf_rd(x, y, z));
    PUT(__fdiv_rn(x, y)); PUT(__fdiv_rz(x, y)); PUT(__fdiv_ru(x, y)); PUT(__fdiv_rd(x, y));
    PUT(__frcp_rn(x)); PUT(__frcp_rz(x)); PUT(__frcp_ru(x)); PUT(__frcp_rd(x));
    PUT(__fsqrt_rn(x)); PUT(__fsqrt_rz(x)); PUT(__fsqrt_ru(x)); PUT(__fsqrt_rd(x)); PUT(__frsqrt_rn(x));
    PUT(__double2float_rn(d)); PUT(__double2float_rz(d)); PUT(__double2float_ru(d)); PUT(__double2float_rd(d));
    PUT(__saturatef(x)); PUT(x * y + z); PUT(x - y * z); PUT(fminf(x, y)); PUT(fmaxf(-x, fabsf(y))); PUT(x < y ? x : -y); PUT(x > 0 && y <= z ? 1.0f : 2.0f);
    float r;
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); PUT(r);
    asm("mul.ftz.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); PUT(r);
    asm("fma.rz.ftz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z)); PUT(r);
    asm("min.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); PUT(r);
    asm("set.lt.f32.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); PUT(r);
    asm("selp.f32 %0, %1, %2, 1;" : "=f"(r) : "f"(x), "f"(y)); PUT(r);
    asm("{.reg .pred p;\n\ttestp.subnormal.f32 p, %1;\n\tselp.f32 %0, %1, 0f3f800000, p;}" : "=f"(r) : "f"(x)); PUT(r);
}

KERNEL float32_parts(const float* a, const float* b, float* o, int n) {
    INDEX;
    float x = a[i], y = b[i], part;
    int e;
    PUT(floorf(x)); PUT(ceilf(x)); PUT(truncf(x)); PUT(rintf(x)); PUT(roundf(x)); PUT(nearbyintf(x)); PUT(frexpf(x, &e)); PUT(e); PUT(ldexpf(x, i % 300 - 150)); PUT(scalbnf(y, 3));
    PUT(fmodf(x, y)); PUT(remainderf(x, y)); PUT(remquof(x, y, &e)); PUT(e); PUT(modff(x, &part)); PUT(part); PUT(logbf(x)); PUT(ilogbf(x)); PUT(copysignf(x, y)); PUT(fdimf(x, y)); PUT(nextafterf(x, y));
    PUT(fabsf(x)); PUT(isnan(x) ? 1 : y); PUT(fmaf(x, y, x)); PUT(__fdividef(x, 2.0f)); PUT(x / 3.0f); PUT(sqrtf(fabsf(x))); PUT(1.0f / x); PUT(x / y); PUT(x == y); PUT(x != y); PUT(x <= y); PUT(!(x >= y));
}

KERNEL float32_math(const float* a, const float* b, float* o, int n) {
    INDEX;
    float x = a[i], y = b[i], s, c;
    PUT(expf(x)); PUT(exp2f(x)); PUT(exp10f(x)); PUT(expm1f(x)); PUT(logf(x)); PUT(log2f(x)); PUT(log10f(x)); PUT(log1pf(x)); PUT(powf(fabsf(x), y)); PUT(powf(x, 3.0f));
    PUT(sinf(x)); PUT(cosf(x)); PUT(tanf(x)); PUT(sinpif(x)); PUT(asinf(x)); PUT(acosf(x)); PUT(atanf(x)); PUT(atan2f(x, y)); PUT(sinhf(x)); PUT(coshf(x)); PUT(tanhf(x)); PUT(asinhf(x)); PUT(acoshf(x)); PUT(atanhf(x));
    PUT(erff(x)); PUT(erfcf(x)); PUT(erfinvf(x)); PUT(normcdff(x)); PUT(tgammaf(x)); PUT(lgammaf(x)); PUT(cbrtf(x)); PUT(rcbrtf(x)); PUT(hypotf(x, y)); PUT(rhypotf(x, y)); PUT(rsqrtf(x)); PUT(j0f(x)); PUT(y1f(x)); PUT(cyl_bessel_i0f(x));
    sincosf(x, &s, &c); PUT(s); PUT(c); PUT(norm3df(x, y, 1.0f));
    PUT(__expf(x)); PUT(__logf(x)); PUT(__sinf(x)); PUT(__cosf(x)); PUT(__powf(x, y)); PUT(__fdividef(x, y)); PUT(__log2f(x)); PUT(__tanf(x)); PUT(__exp10f(x));
}

KERNEL float64_rounding(const double* a, const double* b, double* o, int n) {
    INDEX;
    double x = a[i], y = b[i], z = a[n - 1 - i], part;
    int e;
    PUT(__dadd_rn(x, y)); PUT(__dadd_rz(x, y)); PUT(__dadd_ru(x, y)); PUT(__dadd_rd(x, y)); PUT(__dmul_rn(x, y)); PUT(__dmul_rz(x, y)); PUT(__dmul_ru(x, y)); PUT(__dmul_rd(x, y));
    PUT(__fma_rn(x, y, z)); PUT(__fma_rz(x, y, z)); PUT(__fma_ru(x, y, z)); PUT(__fma_rd(x, y, z)); PUT(__ddiv_rn(x, y)); PUT(__ddiv_rz(x, y)); PUT(__ddiv_ru(x, y)); PUT(__ddiv_rd(x, y));
    PUT(__drcp_rn(x)); PUT(__drcp_ru(x)); PUT(__dsqrt_rn(x)); PUT(__dsqrt_rz(x)); PUT(__dsqrt_ru(x)); PUT(__dsqrt_rd(x));
    PUT(floor(x)); PUT(ceil(x)); PUT(trunc(x)); PUT(rint(x)); PUT(round(x)); PUT(frexp(x, &e)); PUT(e); PUT(ldexp(x, i % 2000 - 1000)); PUT(fmod(x, y)); PUT(remainder(x, y)); PUT(modf(x, &part)); PUT(part); PUT(logb(x)); PUT(copysign(x, y)); PUT(fdim(x, y)); PUT(nextafter(x, y));
    PUT(fmin(x, y)); PUT(fmax(-x, fabs(y))); PUT(x < y ? x : -y); PUT(isnan(x) ? 1 : y); PUT(x * y - z); PUT((float)x); PUT((float)x * (double)(float)y); PUT(x == y || x > z); PUT(rsqrt(x)); PUT(1.0 / x);
}

KERNEL float64_math(const double* a, const double* b, double* o, int n) {
    INDEX;
    double x = a[i], y = b[i];
    PUT(exp(x)); PUT(exp2(x)); PUT(expm1(x)); PUT(log(x)); PUT(log2(x)); PUT(log10(x)); PUT(log1p(x)); PUT(pow(fabs(x), y)); PUT(sin(x)); PUT(cos(x)); PUT(tan(x)); PUT(asin(x)); PUT(acos(x)); PUT(atan(x)); PUT(atan2(x, y));
    PUT(sinh(x)); PUT(cosh(x)); PUT(tanh(x)); PUT(asinh(x)); PUT(acosh(x)); PUT(atanh(x)); PUT(erf(x)); PUT(erfc(x)); PUT(tgamma(x)); PUT(lgamma(x)); PUT(cbrt(x)); PUT(hypot(x, y)); PUT(rcbrt(x)); PUT(sinpi(x)); PUT(normcdf(x)); PUT(j1(x));
}

KERNEL half_operations(const u16* a, const u16* b, u16* o, int n) {
    INDEX;
    __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]), z = __ushort_as_half(a[n - 1 - i]);
#define HALF(value) PUT(__half_as_ushort(value))
    HALF(__hadd(x, y)); HALF(__hsub(x, y)); HALF(__hmul(x, y)); HALF(__hfma(x, y, z)); HALF(__hdiv(x, y)); HALF(__hadd_sat(x, y)); HALF(__hmul_sat(x, y)); HALF(__hfma_sat(x, y, z)); HALF(__hfma_relu(x, y, z)); HALF(__hneg(x)); HALF(__habs(x));
    HALF(__hmax(x, y)); HALF(__hmin(x, y)); HALF(__hmax_nan(x, y)); HALF(__hmin_nan(x, y)); PUT(__heq(x, y)); PUT(__hlt(x, y)); PUT(__hge(x, y)); PUT(__hneu(x, y)); PUT(__hisnan(x)); PUT(__hisinf(x));
    HALF(hfloor(x)); HALF(hceil(x)); HALF(htrunc(x)); HALF(hrint(x)); HALF(__float2half_rn(__half2float(x) * 3.1f)); HALF(__float2half_rz(__half2float(x) * 3.1f)); HALF(__float2half_ru(__half2float(x) * 3.1f)); HALF(__float2half_rd(__half2float(x) * 3.1f));
    PUT(__half2int_rn(x)); PUT(__half2uint_rz(x)); PUT(__half2short_ru(x)); PUT(__half2ushort_rd(x)); PUT((u16)__half2ll_rz(x)); HALF(__int2half_rn(i * 37)); HALF(__uint2half_rz(i * 41)); HALF(__short2half_ru((s16)a[i])); HALF(__ushort2half_rd(b[i])); HALF(__ll2half_rn((s64)i * i)); HALF(__double2half((double)__half2float(x) / 3));
    HALF(x * y + z); HALF(x / __float2half(3.0f)); HALF(__habs(x - y) > z ? x : y);
    __half2 p = __halves2half2(x, y), q = __halves2half2(y, z), r;
#define PAIR(value) r = (value); HALF(__low2half(r)); HALF(__high2half(r))
    PAIR(__hadd2(p, q)); PAIR(__hsub2(p, q)); PAIR(__hmul2(p, q)); PAIR(__hfma2(p, q, p)); PAIR(__hfma2_relu(p, q, p)); PAIR(__hfma2_sat(p, q, p)); PAIR(__hmul2_sat(p, q)); PAIR(__hmax2(p, q)); PAIR(__hmin2_nan(p, q)); PAIR(__hgt2(p, q)); PAIR(__hleu2(p, q)); PAIR(__heq2(p, q)); PAIR(__hneg2(p)); PAIR(__habs2(p)); PAIR(__lowhigh2highlow(p)); PAIR(__hcmadd(p, q, p)); PAIR(__float22half2_rn(make_float2(1.7f * i, 0.3f))); PAIR(__h2div(p, q));
    PUT(__hbgt2(p, q)); PUT(__hbeq2(p, p)); PUT((u16)__hgt2_mask(p, q)); PUT((u16)(__hlt2_mask(p, q) >> 16));
}

KERNEL half_math(const u16* a, u16* o, int n) {
    INDEX;
    __half x = __ushort_as_half(a[i]);
    HALF(hsqrt(x)); HALF(hrsqrt(x)); HALF(hrcp(x)); HALF(hexp(x)); HALF(hexp2(x)); HALF(hlog(x)); HALF(hlog2(x)); HALF(hlog10(x)); HALF(hsin(x)); HALF(hcos(x)); HALF(htanh(x));
    __half2 p = __halves2half2(x, __hneg(x)), r;
    PAIR(h2exp(p)); PAIR(h2sin(p)); PAIR(h2rcp(p)); PAIR(h2sqrt(p)); PAIR(h2floor(p));
}

#if __CUDA_ARCH__ >= 800
KERNEL bfloat16_operations(const u16* a, const u16* b, u16* o, int n) {
    INDEX;
    __nv_bfloat16 x = __ushort_as_bfloat16(a[i]), y = __ushort_as_bfloat16(b[i]), z = __ushort_as_bfloat16(a[n - 1 - i]);
#define BRAIN(value) PUT(__bfloat16_as_ushort(value))
    BRAIN(__hadd(x, y)); BRAIN(__hsub(x, y)); BRAIN(__hmul(x, y)); BRAIN(__hfma(x, y, z)); BRAIN(__hdiv(x, y)); BRAIN(__hadd_sat(x, y)); BRAIN(__hmul_sat(x, y)); BRAIN(__hfma_relu(x, y, z)); BRAIN(__hneg(x)); BRAIN(__habs(x)); BRAIN(__hmax(x, y)); BRAIN(__hmin_nan(x, y));
    PUT(__heq(x, y)); PUT(__hlt(x, y)); PUT(__hgeu(x, y)); PUT(__hisnan(x));
    BRAIN(hfloor(x)); BRAIN(hrint(x)); BRAIN(__float2bfloat16_rn(__bfloat162float(x) * 3.1f)); BRAIN(__float2bfloat16_rz(__bfloat162float(x) * 3.1f)); BRAIN(__float2bfloat16_ru(__bfloat162float(x) * 3.1f)); BRAIN(__float2bfloat16_rd(__bfloat162float(x) * 3.1f));
    PUT(__bfloat162int_rn(x)); PUT(__bfloat162uint_rz(x)); PUT(__bfloat162short_ru(x)); BRAIN(__int2bfloat16_rn(i * 377)); BRAIN(__uint2bfloat16_rz(i * 411)); BRAIN(__ll2bfloat16_rn((s64)i * i)); BRAIN(__double2bfloat16((double)__bfloat162float(x) / 3)); BRAIN(x * y + z);
    __nv_bfloat162 p = __halves2bfloat162(x, y), q = __halves2bfloat162(y, z), r;
#define BRAINS(value) r = (value); BRAIN(__low2bfloat16(r)); BRAIN(__high2bfloat16(r))
    BRAINS(__hadd2(p, q)); BRAINS(__hmul2(p, q)); BRAINS(__hfma2(p, q, p)); BRAINS(__hmax2(p, q)); BRAINS(__hmin2(p, q)); BRAINS(__hgt2(p, q)); BRAINS(__habs2(p)); BRAINS(__hneg2(p)); BRAINS(__floats2bfloat162_rn(1.7f * i, 0.3f)); BRAINS(__hfma2_relu(p, q, p)); BRAINS(__hsub2(p, q));
    PUT(__hbgt2(p, q)); BRAIN(hsqrt(x)); BRAIN(hexp(x)); BRAIN(hrcp(x));
}
#endif
