/* Linked into the OpenMP backprop with --wrap=bpnn_free: prints the trained weights before they are freed. */
#include <stdio.h>
#include "backprop.h"
void __real_bpnn_free(BPNN *net);
void __wrap_bpnn_free(BPNN *net) {
  printf("WEIGHTS\n");
  for (int i = 0; i <= net->input_n; ++i)
    for (int j = 0; j <= net->hidden_n; ++j) printf("%.9e\n", net->input_weights[i][j]);
  __real_bpnn_free(net);
}
