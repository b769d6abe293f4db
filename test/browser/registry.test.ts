/**
 * The registry in a real browser. One test file, so that server and browser start once; the tests are in the folder
 * beside it and run in this order.
 */
import './registry/shared-lists.ts'
import './registry/own-lists.ts'
import './registry/forms.ts'
