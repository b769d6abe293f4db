/**
 * V8 remembers from which lines of code objects survive, and after a moment of load makes theirs among the old ones from the
 * start. Here those are requests and queries: dead within milliseconds, yet kept until a full collection, with all they hold.
 * Under load there was one every four seconds; without this habit there is none for minutes (docs/adr/0020).
 */
import { setFlagsFromString } from 'node:v8'

export const keepRequestsYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring')
