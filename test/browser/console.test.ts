/**
 * The console in a real browser. One test file, so that server and browser start once; the tests are in the folder
 * beside it and run in this order.
 */
import './console/sign-in.ts'
import './console/people.ts'
import './console/audit.ts'
import './console/changes.ts'
import './console/tools.ts'
import './console/restrictions.ts'
import './console/documents.ts'
import './console/reports.ts'
import './console/holds.ts'
import './console/inbox.ts'
import './console/failures.ts'
import './console/screens.ts'
import './console/guide.ts'
