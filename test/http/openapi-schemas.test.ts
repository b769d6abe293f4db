/** The schemas of the API document compile in strict mode and keep to its naming. The document is built as the server builds it. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { describeApi } from '#app/api-document.ts'
import { modules } from '#app/modules.ts'
import { inputValidator, replyValidator } from '#kernel/http/validation.ts'
import { problems } from '#kernel/problem.ts'
import { isStreamReply } from '#kernel/route.ts'
import type { TSchema } from '#kernel/schema.ts'
import { type ApiDocument, createSchemaCompiler, listOperations } from '../support/api-document.ts'

const described: object = await describeApi(modules, '0', null)
const document = described as ApiDocument
const operations = listOperations(document)
const routes = modules.flatMap((module) => module.routes)
const compile = createSchemaCompiler(document)

describe('every schema', () => {
  test('of a request and of a reply is valid and compiles in strict mode', () => {
    const metaSchema = new Ajv2020()
    const expectValid = (schema: TSchema) =>
      expect([metaSchema.validateSchema(schema), metaSchema.errors]).toEqual([true, null])
    let count = 0
    for (const route of routes) {
      for (const schema of [route.params, route.query, route.body]) {
        if (!schema) continue
        expectValid(schema)
        expect(inputValidator(schema)).toBeTypeOf('function')
        count++
      }
      const [, reply] = route.reply
      if (reply === null || isStreamReply(reply)) continue
      expectValid(reply as TSchema)
      expect(replyValidator(reply as TSchema)).toBeTypeOf('function')
      count++
    }
    expect(count).toBeGreaterThan(80)
  })

  test('in the document compiles with its references', () => {
    const distinct = new Set<string>()
    for (const { operation } of operations) {
      const bodies = Object.values(operation.requestBody?.content ?? {})
      const replies = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}))
      const parameters = operation.parameters ?? []
      for (const { schema } of [...bodies, ...replies, ...parameters]) distinct.add(JSON.stringify(schema))
    }
    expect(distinct.size).toBeGreaterThan(60)
    for (const text of distinct) expect(compile(JSON.parse(text))).toBeTypeOf('function')
  })

  test('of a problem lists every code', () => {
    expect(document.components.schemas['Problem']).toMatchObject({
      properties: { code: { enum: Object.keys(problems) } },
    })
  })

  test('names its members in snake_case', () => {
    const names = new Set<string>()
    const visit = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return
      for (const name of Object.keys((value as { properties?: object }).properties ?? {})) names.add(name)
      for (const inner of Object.values(value)) visit(inner)
    }
    visit(document.components.schemas)
    visit(document.paths)
    // As the specification of problem details and of validators spells it.
    names.delete('instancePath')
    expect(names.size).toBeGreaterThan(80)
    expect([...names].filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([])
  })
})
