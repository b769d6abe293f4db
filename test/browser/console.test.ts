/**
 * The console in a real browser. One test file, so that server and browser start once; the tests are in the folder
 * beside it and run in this order, a sample of them on each commit.
 */
import { importStories } from './stories.ts'

await importStories(
  'stories of the console',
  {
    'sign-in': () => import('./console/sign-in.ts'),
    people: () => import('./console/people.ts'),
    audit: () => import('./console/audit.ts'),
    changes: () => import('./console/changes.ts'),
    tools: () => import('./console/tools.ts'),
    restrictions: () => import('./console/restrictions.ts'),
    documents: () => import('./console/documents.ts'),
    reports: () => import('./console/reports.ts'),
    holds: () => import('./console/holds.ts'),
    inbox: () => import('./console/inbox.ts'),
    'work-settings': () => import('./console/work-settings.ts'),
    investigations: () => import('./console/investigations.ts'),
    failures: () => import('./console/failures.ts'),
    screens: () => import('./console/screens.ts'),
    guide: () => import('./console/guide.ts'),
  },
  3,
)
