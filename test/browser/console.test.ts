/**
 * The console in a real browser: the main paths, each kind of failure, the keyboard, both colour schemes, both widths.
 * One file by name, so that server and browser start once; the tests stand beside it, by area, and run in this order.
 */
import './console/sign-in.ts'
import './console/people.ts'
import './console/audit.ts'
import './console/changes.ts'
import './console/failures.ts'
import './console/screens.ts'
