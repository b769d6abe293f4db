/** The OpenAPI document of this program: the declared routes with their groups and recorded examples. */
import type { Module } from '#kernel/module.ts'
import { buildOpenapiDocument } from '#kernel/openapi.ts'
import { loadApiExamples } from './api-examples.ts'
import { apiGroups } from './api-groups.ts'

export async function describeApi(
  modules: readonly Module[],
  version: string,
  server_url: string | null,
): Promise<Record<string, unknown>> {
  const examples = await loadApiExamples(modules)
  return buildOpenapiDocument({ modules, version, server_url, groups: apiGroups, examples })
}
