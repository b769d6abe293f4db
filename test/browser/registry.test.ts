/**
 * The registry in a real browser. One test file, so that server and browser start once; the tests are in the folder
 * beside it and run in this order, a sample of them on each commit.
 */
import { importStories } from './stories.ts'

await importStories(
  'stories of the registry',
  {
    'shared-lists': () => import('./registry/shared-lists.ts'),
    'own-lists': () => import('./registry/own-lists.ts'),
    forms: () => import('./registry/forms.ts'),
  },
  2,
)
