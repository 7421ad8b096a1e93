// attack: compile_templates
// threat: cpu (compile step)
// expect: CONTAINED: templates that double at each level meet the compiler's limits
// status: compile_error
template <int N, int M> struct Tree { static constexpr long value = Tree<N - 1, 2 * M>::value + Tree<N - 1, 2 * M + 1>::value; };
template <int M> struct Tree<0, M> { static constexpr long value = M; };
int main() { return Tree<28, 1>::value; }
