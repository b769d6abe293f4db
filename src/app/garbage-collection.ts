/**
 * Two habits of V8 that suit a page better than a server (docs/adr/0020). It remembers from which lines of code objects survive, and
 * after a moment of load makes theirs among the old ones from the start: here those are requests and queries, dead within
 * milliseconds, yet kept until a full collection with all they hold. And a heap that was idle for a while may grow by a third only
 * before the next full collection: here it may double, less than V8 allows one that was never idle.
 */
import { setFlagsFromString } from 'node:v8'

export function tuneGarbageCollector(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=100')
}
