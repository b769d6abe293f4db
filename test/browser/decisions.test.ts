/**
 * Decisions in a real browser. One test file, so that server and browser start once; the tests are in the folder beside
 * it and run in this order.
 */
import './decisions/matrices.ts'
import './decisions/rules.ts'
import './decisions/contracts.ts'
import './decisions/editor.ts'
import './decisions/activations.ts'
import './decisions/evaluations.ts'
import './decisions/home.ts'
import './decisions/own-under-shared-key.ts'
import './decisions/playbooks.ts'
import './decisions/providers.ts'
import './decisions/plugins.ts'
import './decisions/batches.ts'
import './decisions/subjects.ts'
import './decisions/schedules.ts'
