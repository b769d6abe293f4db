/**
 * Sets two flags of V8 that suit a server better (docs/adr/0020). V8 allocates objects in the old generation when earlier
 * objects of the same call site survived; after a load peak these are requests and queries, which die within milliseconds but
 * stay until a full collection. And after an idle period V8 lets the heap grow by only a third before the next full collection:
 * here it may double.
 */
import { setFlagsFromString } from 'node:v8'

export function tuneGarbageCollector(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=100')
}
