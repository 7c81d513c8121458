// Times OpenBLAS's sgemm, one thread, on the shapes read from standard input,
// one a line: name transA transB m n k. Each line is answered by the median
// nanoseconds of a call, so that compare.go can alternate it with ours.
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern char *openblas_get_corename(void);
extern char *openblas_get_config(void);
extern void openblas_set_num_threads(int);

// Processor time, since other work may share the machine.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static float *filled(long n) {
  float *p = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
  unsigned s = 1;
  for (long i = 0; i < n; i++) p[i] = (s = s * 1664525u + 1013904223u) / 4294967296.f - 0.5f;
  return p;
}

int main(void) {
  char name[64], ta, tb;
  int m, n, k;
  openblas_set_num_threads(1);
  printf("%s; %s\n", openblas_get_corename(), openblas_get_config());
  fflush(stdout);
  while (scanf("%63s %c %c %d %d %d", name, &ta, &tb, &m, &n, &k) == 6) {
    float *a = filled((long)m * k), *b = filled((long)k * n), *c = filled((long)m * n);
    int calls = 1 + (int)(4e6 / (2.0 * m * n * k / 60));
    double took[9];
    for (int r = -1; r < 9; r++) {
      double start = now();
      for (int i = 0; i < calls; i++)
        cblas_sgemm(CblasRowMajor, ta == 'T' ? CblasTrans : CblasNoTrans, tb == 'T' ? CblasTrans : CblasNoTrans, m, n, k,
                    1, a, ta == 'T' ? m : k, b, tb == 'T' ? k : n, 0, c, n);
      if (r >= 0) took[r] = (now() - start) / calls;
    }
    qsort(took, 9, sizeof took[0], ascending);
    printf("%.0f\n", took[4]);
    fflush(stdout);
    free(a), free(b), free(c);
  }
}
