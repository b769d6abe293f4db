/**
 * Decisions in a real browser. One test file, so that server and browser start once; the tests are in the folder beside
 * it and run in this order, a sample of them on each commit.
 */
import { importStories } from './stories.ts'

await importStories(
  'stories of decisions',
  {
    matrices: () => import('./decisions/matrices.ts'),
    rules: () => import('./decisions/rules.ts'),
    contracts: () => import('./decisions/contracts.ts'),
    editor: () => import('./decisions/editor.ts'),
    activations: () => import('./decisions/activations.ts'),
    evaluations: () => import('./decisions/evaluations.ts'),
    home: () => import('./decisions/home.ts'),
    'own-under-shared-key': () => import('./decisions/own-under-shared-key.ts'),
    providers: () => import('./decisions/providers.ts'),
    playbooks: () => import('./decisions/playbooks.ts'),
    plugins: () => import('./decisions/plugins.ts'),
    batches: () => import('./decisions/batches.ts'),
    subjects: () => import('./decisions/subjects.ts'),
    schedules: () => import('./decisions/schedules.ts'),
  },
  3,
)
