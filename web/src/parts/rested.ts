import { useEffect, useState } from "react";

const REST = 150;

/** The value once it has stopped changing for a moment, so that what is dragged past is not asked for. */
export function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const waiting = setTimeout(() => setRested(value), REST);
    return () => clearTimeout(waiting);
  }, [value]);
  return rested;
}
