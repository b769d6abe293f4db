/** The OpenAPI document as tests read it: its types, its operations with their responses, and its schemas compiled. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { addComponents, withSharedReferences } from './contract.ts'

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: string[]
  readonly security: object[]
  readonly parameters?: { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: { content: Record<string, Media> }
  readonly responses: Record<string, Response>
}
export interface Media {
  readonly schema: object
  readonly examples?: Record<string, { value?: unknown; $ref?: string }>
}
interface Response {
  readonly description: string
  readonly content?: Record<string, Media>
  readonly links?: Record<string, { operationId: string; parameters: Record<string, string> }>
}
export interface ApiDocument {
  readonly openapi: string
  readonly tags: { name: string; description: string; 'x-displayName': string }[]
  readonly 'x-tagGroups': { name: string; tags: string[] }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    schemas: Record<string, object>
    responses: Record<string, Response>
    examples: Record<string, { value: unknown }>
  }
}

export interface ListedOperation {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** Every operation, with the responses that it shares with others resolved from the components. */
export function listOperations({ paths, components }: ApiDocument): ListedOperation[] {
  const resolve = (response: Response & { $ref?: string }): Response =>
    response.$ref ? (components.responses[response.$ref.split('/').at(-1) as string] as Response) : response
  const resolveAll = (operation: Operation): Operation => {
    const responses = Object.entries(operation.responses).map(([status, response]) => [status, resolve(response)])
    return { ...operation, responses: Object.fromEntries(responses) }
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: resolveAll(operation) })),
  )
}

/** In strict mode, each distinct schema once: compiling takes most of the time of its tests. */
export function createSchemaCompiler({ components }: ApiDocument): (schema: object) => ValidateFunction {
  const validator = new Ajv2020({ strict: true, allowUnionTypes: true, code: { optimize: false } })
  addFormats.default(validator)
  validator.addFormat('binary', true)
  addComponents(validator, components.schemas)
  const compiled = new Map<string, ValidateFunction>()
  return (schema) => {
    const text = JSON.stringify(schema)
    const known = compiled.get(text) ?? validator.compile(withSharedReferences(schema))
    compiled.set(text, known)
    return known
  }
}
