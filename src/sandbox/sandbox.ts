/** Entry point of the bounded thread that runs plugins. It holds nothing between items, so it can be terminated at any moment. */
import { sandboxBuilds } from './builds.ts'
import { serveSandbox } from './serve-sandbox.ts'

await serveSandbox(sandboxBuilds)
