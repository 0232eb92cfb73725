"""The names that JavaScript's library, React and the test runners have made their own."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What calls its first argument, now or later, without arguments worth following.
RUNS_FIRST = _words(
    """
    setTimeout setInterval setImmediate queueMicrotask requestAnimationFrame requestIdleCallback nextTick
    useEffect useLayoutEffect useInsertionEffect useMemo useState useReducer startTransition act batch untrack
    createEffect createMemo onMounted onUnmounted watchEffect computed
    beforeEach afterEach beforeAll afterAll before after
    """
)
# What gives back something that calls, or is, its first argument.
WRAPS_FIRST = _words(
    """
    useCallback memo forwardRef observer debounce throttle once memoize memoizeOne promisify callbackify asyncHandler
    catchAsync expressAsyncHandler curry markRaw reactive readonly shallowRef freeze seal toRaw structuredClone
    defineComponent styled cache
    """
)
BUILT_IN = RUNS_FIRST | WRAPS_FIRST | {"lazy", "useRef", "define", "require", "requirejs", "eval"}
# Classes whose instances hold, or call, what they are given.
MADE = _words(
    """
    Promise Proxy Array Set Map WeakMap WeakSet
    MutationObserver IntersectionObserver ResizeObserver PerformanceObserver
    """
)
# Objects that only hold functions which are known by their own names.
SPACES = _words("React window globalThis global process util _ lodash")
LIBRARY = _words("Object Array Promise Reflect")
# Members that the library's own values have: such a name alone says nothing about whose it is.
ORDINARY = _words(
    """
    constructor toString toLocaleString valueOf hasOwnProperty isPrototypeOf toJSON length prototype name
    at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach
    includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice
    toReversed toSorted toSpliced unshift values with
    charAt charCodeAt codePointAt endsWith localeCompare match matchAll normalize padEnd padStart repeat replace
    replaceAll search split startsWith substr substring toLowerCase toUpperCase trim trimEnd trimStart
    add clear delete get has set size next return throw then catch finally call apply bind test exec
    toFixed toPrecision getTime toISOString getFullYear
    addEventListener removeEventListener dispatchEvent appendChild removeChild querySelector querySelectorAll
    getElementById getAttribute setAttribute preventDefault stopPropagation focus blur click
    on once off emit addListener removeListener pipe write end close json text send status log error warn info debug
    """
)

# Generic types that stand for their argument, for many of it, for many under keys.
SAME = _words(
    """
    Promise PromiseLike Awaited Partial Required Readonly NonNullable Pick Omit DeepPartial Mutable Extract Exclude
    InstanceType MaybePromise Nullable Optional Maybe Observable Ref
    """
)
LISTS = _words(
    """
    Array ReadonlyArray Set ReadonlySet WeakSet Iterable AsyncIterable Iterator AsyncIterator Generator
    AsyncGenerator IterableIterator AsyncIterableIterator ArrayLike
    """
)
DICTS = _words("Map ReadonlyMap WeakMap Record Dictionary")

# Test runners: what opens a suite, what a case, and where they come from.
SUITES = _words("describe suite context fdescribe xdescribe")
CASES = _words("it test specify fit xit xtest bench")
RUNNERS = _words(
    """
    vitest jest @jest/globals mocha node:test ava tap uvu bun:test @playwright/test jasmine @std/testing/bdd
    """
)
