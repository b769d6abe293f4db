/**
 * Accessibility in a real browser. One test file, so that server and browser start once; the tests are in the folder
 * beside it.
 */
import './accessibility/pages.ts'
import './accessibility/keyboard.ts'
import './accessibility/padlocks.ts'
