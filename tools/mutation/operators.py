"""Mutants of CUDA programs: one edit at one place each, that a checker of programs should notice.

Device code is what stands before main(). Lines keep their numbers.
"""
import dataclasses
import re

# In the order in which the page lists them.
OPERATORS = {
    "barrier-deleted": "__syncthreads(), bar.sync or bar.arrive deleted",
    "barrier-conditional": "__syncthreads() only for threads with threadIdx.x != 0",
    "barrier-count": "a named barrier for 32 threads less",
    "barrier-number": "a named barrier of another number",
    "syncwarp-deleted": "__syncwarp() deleted",
    "mask-narrowed": "lane 31 missing in a mask",
    "fence-deleted": "__threadfence() or __threadfence_block() deleted",
    "fence-narrowed": "__threadfence_block() instead of __threadfence()",
    "scope-narrowed": "an atomic, a release or an acquire of the block's scope instead of the GPU's",
    "order-dropped": "relaxed instead of acquire or release",
    "atomic-plain": "a load and a store instead of an atomic operation",
    "arrival-deleted": "an arrival at a barrier in shared memory deleted",
    "wait-deleted": "a loop that waits for other threads deleted",
    "copy-wait-deleted": "cp.async.wait or commit_group deleted",
    "copy-wait-shortened": "cp.async.wait_group leaves one group more under way",
    "stream-order-deleted": "an event, a wait for it or a synchronisation deleted",
    "store-skipped": "the store that initialises shared memory never happens",
    "copy-deleted": "cudaMemset or a copy to the device deleted",
    "copy-shortened": "cudaMemset or a copy to the device without the last element",
    "buffer-shortened": "an allocation or an array in shared memory without the last element or row",
    "bound-widened": "<= instead of < in a bound of device code",
    "guard-deleted": "if (index < size) deleted, what it guarded stays",
}

# What "a load and a store instead of an atomic operation" is: behind the programs' common header.
PLAIN = """
#ifdef __CUDACC__
template <class T, class U>
__device__ T plain_Add(T* at, U value) {
  const T old = *at;
  *at = old + value;
  return old;
}
template <class T, class U>
__device__ T plain_Min(T* at, U value) {
  const T old = *at;
  if (value < old) *at = value;
  return old;
}
template <class T, class U>
__device__ T plain_Max(T* at, U value) {
  const T old = *at;
  if (old < value) *at = value;
  return old;
}
template <class T, class U>
__device__ T plain_Exch(T* at, U value) {
  const T old = *at;
  *at = value;
  return old;
}
template <class T, class U, class V>
__device__ T plain_CAS(T* at, U expected, V value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}
#endif
"""

ASM = r'asm volatile\("{}[^"]*" ::: "memory"\);'
# operator, pattern, what it becomes (a string or a function of the match)
DEVICE = (
    ("barrier-deleted", r"__syncthreads\(\);", ";"),
    ("barrier-deleted", ASM.format(r"bar\."), ";"),
    ("barrier-conditional", r"__syncthreads\(\);", "if (threadIdx.x != 0) __syncthreads();"),
    ("barrier-count", r"(bar\.\w+ \d+, )(\d+)", lambda m: f"{m[1]}{int(m[2]) - 32}"),
    ("barrier-number", r"(bar\.\w+ )(\d+)", lambda m: f"{m[1]}{int(m[2]) + 8}"),
    ("syncwarp-deleted", r"__syncwarp\(\w*\);", ";"),
    ("mask-narrowed", r"__syncwarp\(\)", "__syncwarp(0x7fffffff)"),
    ("mask-narrowed", r"(_sync\()0xffffffff", r"\g<1>0x7fffffff"),
    ("fence-deleted", r"__threadfence(_block)?\(\);", ";"),
    ("fence-narrowed", r"__threadfence\(\)", "__threadfence_block()"),
    ("scope-narrowed", r"\b(atomic[A-Z]\w*)\(", r"\1_block("),
    ("scope-narrowed", r"(\b(?:ld|st|atom)\.[\w.]*)\.gpu", r"\1.cta"),
    ("order-dropped", r"\b(ld|st|atom)\.(acquire|release)", r"\1.relaxed"),
    ("order-dropped", r"(\bmbarrier\.[\w.]*)\.(acquire|release)", r"\1.relaxed"),
    ("arrival-deleted", r"\barrive(?:_behind_copies)?\(&.*\);", ";"),
    ("atomic-plain", r"\batomic([A-Z]\w*)\(", r"plain_\1("),
    ("wait-deleted", r"\bwhile \((.*)\) \{$", "while (false) {"),
    ("wait-deleted", r"^( +)while \((.*)\);$", r"\1while (false);"),
    ("wait-deleted", r"if \(found == nothing\) continue;", ";"),
    ("copy-wait-deleted", ASM.format(r"cp\.async\.(?:wait|commit)"), ";"),
    ("copy-wait-shortened", r"(wait_group )(\d)", lambda m: f"{m[1]}{int(m[2]) + 1}"),
    ("bound-widened", r" < ", " <= "),
    ("guard-deleted", r"\bif \((?:(?!&&)[^;])*? < (?:(?!&&)[^;])*?\) (?=(?!return)[\w*\[][^;]*;$)", ""),
)
HOST = (
    (
        "stream-order-deleted",
        r"CHECK\(cuda(?:EventRecord|StreamWaitEvent|StreamSynchronize|DeviceSynchronize)\(.*\)\);",
        ";",
    ),
    ("copy-deleted", r"CHECK\(cuda(?:Memset|MemcpyToSymbol)\(.*\)\);", ";"),
    ("copy-deleted", r"CHECK\(cudaMemcpy\(.*(?:HostToDevice|DeviceToDevice)\)\);", ";"),
    ("copy-shortened", r"(cudaMemset\(.*, )([^,]+)( \* sizeof)", r"\1(\2 - 1)\3"),
    (
        "copy-shortened",
        r"(cudaMemcpy\([^,]*, [^,]*, )([^,]+)( \* sizeof\([\w ]+\), cudaMemcpy(?:HostTo|DeviceTo)Device)",
        r"\1(\2 - 1)\3",
    ),
    ("buffer-shortened", r"(cudaMalloc\([^,]*, )([^,]+)( \* sizeof)", r"\1(\2 - 1)\3"),
    ("buffer-shortened", r"(cudaMalloc\([^,]*, sizeof\([\w ]+\))(?=\))", r"\1 - 1"),
    ("buffer-shortened", r"(<<<.*, )(\w+)( \* sizeof\(int\)>>>)", r"\1(\2 - 1)\3"),
)
SHARED = re.compile(r"__shared__ (?:__align__\(\d+\) )?(?:unsigned char|\w+) (.*);")
DECLARED = re.compile(r"(\w+)((?:\[[^\]]*\])*)")


@dataclasses.dataclass(frozen=True)
class Mutant:
    kernel: str
    line: int
    operator: str
    number: int  # among those of the operator in the line, from 1
    column: int
    before: str  # the line
    after: str
    source: str = dataclasses.field(repr=False, compare=False)

    @property
    def name(self):
        return f"{self.kernel}:{self.line}:{self.operator}" + (f"#{self.number}" if self.number > 1 else "")


BARRIER = re.compile(r"__syncthreads\(|__syncwarp\(|bar\.sync")


def shared_names(lines):
    """Variables and arrays in shared memory, in the function that begins there."""
    names = set()
    for line in lines:
        if found := SHARED.search(line):
            names |= {name for name, _ in DECLARED.findall(found[1]) if not name.isdigit()}
        if line == "}":
            break
    return names


def shorter_arrays(line):
    """The line with one dimension of one array in shared memory less by one, for each dimension."""
    found = SHARED.search(line)
    if not found:
        return
    for at in re.finditer(r"(?<=\[)([^\]]+)(?=\])", line[found.start(1) :]):
        start, end = found.start(1) + at.start(), found.start(1) + at.end()
        yield start, f"{line[:start]}{at[1]} - 1{line[end:]}"


def without_stores(line, names):
    """Stores to variables in shared memory, made conditional on what is never true and the compiler can't know.

    Where it sees that nobody writes an array, it takes what is read there for undefined, and reads nothing.
    """
    for at in re.finditer(r"(?:^ +|[)] |else |[;{] )((\w+)(?:\[[^=]*?\])? = [^;=][^;]*;)", line):
        if at[2] in names and "for (" not in line[: at.start(1)].split(";")[0]:
            yield at.start(1), at[2], f"{line[: at.start(1)]}if (gridDim.z > 1) {line[at.start(1) :]}"


def edits(line, device, names):
    """(operator, column, changed line) of a line, without what is stored."""
    for operator, pattern, becomes in DEVICE if device else HOST:
        if operator == "bound-widened" and not re.search(r"\b(if|for|while) \(|\?|^ +const bool ", line):
            continue
        for at in re.finditer(pattern, line):
            target = re.match(r"&?(\w+)", line[at.end() :])
            if operator == "scope-narrowed" and target and target[1] in names:
                continue  # shared memory has no other scope
            text = at.expand(becomes) if isinstance(becomes, str) else becomes(at)
            yield operator, at.start(), line[: at.start()] + text + line[at.end() :]
    if device:
        yield from (("buffer-shortened", column, text) for column, text in shorter_arrays(line))


def mutants(kernel, source):
    """All mutants of a program, in the order of its lines."""
    lines = source.split("\n")
    rank = list(OPERATORS).index
    device, names, stored, synchronised, out = True, set(), set(), False, []
    for number, line in enumerate(lines, 1):
        if line.startswith("int main("):
            device = False
        if line.startswith(("__global__", "__device__")):
            names, stored, synchronised = shared_names(lines[number - 1 :]), set(), False
        if line.lstrip().startswith("//"):
            continue
        found = list(edits(line, device, names))
        for column, name, text in without_stores(line, names) if device else ():
            if not synchronised or name not in stored:
                found.append(("store-skipped", column, text))
            stored.add(name)
        synchronised = synchronised or BARRIER.search(line) is not None
        waits = number < len(lines) and lines[number].strip() == "}"
        seen = {}
        for operator, column, text in sorted(found, key=lambda e: (rank(e[0]), e[1])):
            if operator == "wait-deleted" and text.endswith("{") and not waits:
                continue  # a loop that does something
            seen[operator] = seen.get(operator, 0) + 1
            changed = "\n".join(lines[: number - 1] + [text] + lines[number:])
            out.append(Mutant(kernel, number, operator, seen[operator], column, line, text, changed))
    return out
