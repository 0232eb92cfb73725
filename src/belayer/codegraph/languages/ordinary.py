"""Members that the libraries of Java, C# and Go have themselves: such a name alone says nothing about whose it is."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


JAVA = _words(
    """
    clone compareTo equals finalize getClass hashCode notifyAll toString wait
    addAll addFirst addLast allMatch anyMatch asList average boxed chars collect computeIfAbsent computeIfPresent
    containsAll containsKey containsValue descendingIterator distinct dropWhile entrySet filter findAny findFirst
    flatMap forEach forEachOrdered getFirst getKey getLast getOrDefault getValue hasMoreElements hasNext hasPrevious
    ifPresent ifPresentOrElse indexOf isEmpty isPresent keySet lastIndexOf limit listIterator mapToInt mapToLong
    mapToObj nextElement noneMatch offer orElse orElseGet orElseThrow parallelStream putAll putIfAbsent removeAll
    removeFirst removeIf removeLast replaceAll retainAll setValue skip sorted spliterator subList takeWhile toArray
    toList
    charAt codePointAt concat endsWith equalsIgnoreCase getBytes getChars intern isBlank lines matches
    regionMatches repeat replaceFirst startsWith strip substring toCharArray toLowerCase toUpperCase valueOf
    booleanValue byteValue doubleValue floatValue intValue longValue parseInt parseLong shortValue
    deleteCharAt ensureCapacity setCharAt setLength
    getCause getLocalizedMessage getMessage getStackTrace initCause printStackTrace
    getDeclaredField getDeclaredMethod getName getSimpleName getTypeName isAssignableFrom isInstance newInstance
    getAnnotation isAnnotationPresent getClassLoader
    cancel complete compareAndSet getAndIncrement getAndSet incrementAndGet isCancelled isDone isInterrupted
    interrupt supplyAsync thenAccept thenApply thenCompose whenComplete
    available mark markSupported readLine readFully ready transferTo writeTo
    """
)

CSHARP = _words(
    """
    Equals Finalize GetHashCode GetType MemberwiseClone ReferenceEquals ToString Dispose DisposeAsync CompareTo
    Add AddRange Any Append Aggregate All AsEnumerable AsQueryable Average BinarySearch Cast Clear Concat Contains
    ContainsKey ContainsValue ConvertAll CopyTo Count Dequeue Distinct ElementAt Enqueue Except Exists Find FindAll
    FindIndex First FirstOrDefault ForEach GetEnumerator GetRange GetValueOrDefault GroupBy IndexOf Insert
    InsertRange Intersect Join Last LastIndexOf LastOrDefault Max Min MoveNext OfType OrderBy OrderByDescending
    Peek Pop Prepend Push Remove RemoveAll RemoveAt RemoveRange Reverse Select SelectMany SequenceEqual Single
    SingleOrDefault Skip SkipWhile Sort Sum Take TakeWhile ThenBy ToArray ToDictionary ToHashSet ToList ToLookup
    TryAdd TryDequeue TryGetValue TryPeek TryPop TryRemove Union Where Zip
    EndsWith Format IsNullOrEmpty IsNullOrWhiteSpace PadLeft PadRight Parse Replace Split StartsWith Substring
    ToCharArray ToLower ToLowerInvariant ToUpper ToUpperInvariant Trim TrimEnd TrimStart TryParse
    AppendFormat AppendLine Close Flush FlushAsync Read ReadAsync ReadLine ReadLineAsync ReadToEnd ReadToEndAsync
    Seek SetLength Write WriteAsync WriteLine WriteLineAsync
    Cancel ConfigureAwait ContinueWith GetAwaiter GetResult Invoke BeginInvoke EndInvoke Wait WaitAsync
    ThrowIfCancellationRequested AnyAsync CountAsync FirstAsync FirstOrDefaultAsync SaveChanges SaveChangesAsync
    SingleAsync SingleOrDefaultAsync ToListAsync Include ThenInclude
    GetCustomAttribute GetCustomAttributes GetMethod GetProperties GetProperty GetTypeInfo IsAssignableFrom
    """
)

GO = _words(
    """
    Error String Unwrap Is As GoString Format
    Read Write Close Seek ReadAt WriteAt ReadFrom WriteTo ReadByte WriteByte ReadRune WriteRune WriteString
    ReadString ReadBytes Flush Reset Bytes Len Cap Less Swap Grow Truncate Next
    Lock Unlock RLock RUnlock TryLock Wait Done Add Load Store Swap CompareAndSwap Range Delete
    ServeHTTP Header WriteHeader RoundTrip Handle HandleFunc
    MarshalJSON UnmarshalJSON MarshalText UnmarshalText Marshal Unmarshal Encode Decode Scan Value
    Deadline Err Context Elem Kind Interface Name Size Mode ModTime IsDir Sys
    Errorf Fatal Fatalf Fatalln Helper Log Logf Run Skip Skipf Parallel Cleanup TempDir Fail FailNow Printf Println
    Unix UnixNano Sub Before After Equal Format Seconds Duration
    Query Exec QueryRow Prepare Begin Commit Rollback Rows
    """
)
