/**
 * The examples of the OpenAPI document, recorded by `npm run docs -- examples` and read when the document is first asked for.
 * The bundle holds them as functions that are not evaluated before.
 */
import type { Module } from '#kernel/module.ts'
import type { ApiExamples, OperationExample } from '#kernel/openapi.ts'
import type { ProblemExamples } from '#kernel/openapi-problems.ts'

async function readExamples(name: string): Promise<Readonly<Record<string, object>>> {
  // A module without recorded examples is documented without them; a test names it.
  const loaded = await import(`./examples/${name}.json`).catch(() => undefined)
  return loaded?.default ?? {}
}

export async function loadApiExamples(modules: readonly Module[]): Promise<ApiExamples> {
  const names = modules.filter(({ routes }) => routes.length > 0).map(({ name }) => name)
  const [problems, ...operations] = await Promise.all(['problems', ...names].map(readExamples))
  return {
    operations: Object.assign({}, ...operations) as Record<string, OperationExample>,
    problems: problems as ProblemExamples,
  }
}
