/**
 * The registry in a real browser: reading a difference, importing with a reject, putting in force, resolving, rolling back,
 * forms. One file by name, so that server and browser start once; the tests stand beside it and run in this order.
 */
import './registry/shared-lists.ts'
import './registry/own-lists.ts'
import './registry/forms.ts'
import './registry/screens.ts'
