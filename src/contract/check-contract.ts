/**
 * Finds everything that is wrong with a contract, as far as no list is needed: shape, schema, facts, personal marks, provenance and
 * checks. It accepts any JSON and never throws; a contract without errors can be compiled.
 */
import { checkInput } from '#decision/engine-1/check-parts.ts'
import { FindingCollector, findStorageFault } from '#decision/engine-1/shape.ts'
import type { Finding } from '#decision/model.ts'
import { escapeStep, isObject, parsePointer } from '#registry/content/json-pointer.ts'
import { findLimitFaults } from '#registry/types/schema-limits.ts'
import { type Kind, SchemaTree } from '#registry/types/schema-tree.ts'
import { compileSchema, findMetaSchemaErrors } from '#registry/types/schema-validator.ts'
import { parseCondition } from './checks.ts'
import { findShapeFindings } from './contract-shape.ts'
import { ANY_ELEMENT, compileFacts, toInput } from './facts.ts'
import type { Contract, Fact } from './model.ts'

export const hasErrors = (findings: readonly Finding[]): boolean =>
  findings.some(({ severity }) => severity === 'error')

/** All findings with their pointers. Later parts are checked only when the shape and the schema are right. */
export function checkContractText(text: unknown): Finding[] {
  const shape = findShapeFindings(text)
  if (hasErrors(shape)) return shape
  const contract = text as Contract
  const findings = new FindingCollector()
  checkTexts({ ...contract, examples: [], counter_examples: [] }, '', findings)
  checkSchema(contract.record, findings)
  if (findings.count > 0) return findings.list
  const tree = new SchemaTree(contract.record)
  checkFacts(contract, tree, findings)
  checkPersonal(contract, tree, findings)
  checkProvenance(contract, findings)
  if (findings.count === 0) checkChecks(contract, findings)
  return [...findings.list, ...findWarnings(contract, tree)]
}

/** Stored texts are composed (NFC): another text would be stored differently from what was checked. */
function checkTexts(value: unknown, pointer: string, findings: FindingCollector): void {
  if (typeof value === 'string') {
    // Patterns and test texts may begin or end with a space.
    const fault = findStorageFault(value.trim())
    if (fault) findings.error('text_not_normal', pointer, fault)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const fault = findStorageFault(name.trim())
      if (fault) findings.error('text_not_normal', pointer, fault)
      checkTexts(member, `${pointer}/${escapeStep(name)}`, findings)
    }
  }
}

function checkSchema(schema: Contract['record'], findings: FindingCollector): void {
  const faults = findLimitFaults(schema)
  for (const { code, pointer, message } of faults) findings.error(code, `/record${pointer}`, message)
  if (faults.length > 0) return
  for (const { instancePath, message } of findMetaSchemaErrors(schema)) {
    const fault = message ?? 'it breaks the meta-schema'
    findings.error('schema_invalid', `/record${instancePath}`, `This is not valid JSON Schema 2020-12: ${fault}.`)
  }
  if (findings.count > 0) return
  const kinds = new SchemaTree(schema).getKinds(schema)
  if (kinds.size !== 1 || !kinds.has('object')) {
    const message = 'A record is an object: the schema must say "type": "object".'
    findings.error('schema_not_object', '/record/type', message)
    return
  }
  try {
    compileSchema(schema)
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    findings.error('schema_refused', '/record', `The validator refuses the schema: ${fault}.`)
  }
}

/** Kinds of JSON values that a fact of the type can be read from. Texts are accepted too: XML has nothing else. */
const READABLE: Readonly<Record<Fact['type'], readonly Kind[]>> = {
  enum: ['string'],
  string: ['string'],
  date: ['string'],
  integer: ['number', 'string'],
  decimal: ['number', 'string'],
  boolean: ['boolean', 'string'],
  list: ['string', 'array'],
}

function checkFacts({ facts }: Contract, tree: SchemaTree, findings: FindingCollector): void {
  const names = new Set<string>()
  facts.forEach((fact, index) => {
    const at = `/facts/${index}`
    if (names.has(fact.name)) findings.error('name_repeated', `${at}/name`, `There are two facts "${fact.name}".`)
    names.add(fact.name)
    checkInput(toInput(fact), at, findings)
    const schemas = tree.findFieldSchemas(fact.at)
    if (schemas.length === 0) {
      findings.error('fact_not_declared', `${at}/at`, `The record schema declares no member ${fact.at}.`)
      return
    }
    if (fact.type !== 'list' && parsePointer(fact.at).includes(ANY_ELEMENT)) {
      findings.error('fact_not_single', `${at}/at`, 'Only a fact of type list is read from the elements of an array.')
    }
    const kinds = new Set(schemas.flatMap((schema) => [...tree.getKinds(schema)]))
    if (!READABLE[fact.type].some((kind) => kinds.has(kind))) {
      const message = `A fact of type ${fact.type} cannot be read from ${[...kinds].join(' or ')}, which is what ${fact.at} is.`
      findings.error('fact_type', `${at}/type`, message)
    }
  })
}

function checkPersonal({ personal = [] }: Contract, tree: SchemaTree, findings: FindingCollector): void {
  personal.forEach(({ at }, index) => {
    if (tree.findFieldSchemas(at).length > 0) return
    findings.error('member_not_declared', `/personal/${index}/at`, `The record schema declares no member ${at}.`)
  })
}

function checkProvenance({ provenance, freshness }: Contract, findings: FindingCollector): void {
  provenance?.required?.forEach((name, index) => {
    if (provenance[name] !== undefined) return
    const message = `"${name}" is required, so the contract must say where it is.`
    findings.error('provenance_missing', `/provenance/required/${index}`, message)
  })
  if (freshness && provenance?.as_of === undefined) {
    const message = 'Freshness is measured from as_of: say in "provenance" where it is.'
    findings.error('provenance_missing', '/freshness/measured_from', message)
  }
}

function checkChecks(contract: Contract, findings: FindingCollector): void {
  const facts = new Map(compileFacts(contract).map((compiled) => [compiled.fact.name, compiled]))
  const keys = new Set<string>()
  contract.checks?.forEach(({ key, when }, index) => {
    if (keys.has(key)) findings.error('name_repeated', `/checks/${index}/key`, `There are two checks "${key}".`)
    keys.add(key)
    when.forEach((condition, at) => {
      parseCondition(condition, facts, `/checks/${index}/when/${at}`, findings)
    })
  })
}

function findWarnings({ record, unknown_members = 'note', personal = [] }: Contract, tree: SchemaTree): Finding[] {
  const warnings: Finding[] = []
  const warn = (code: string, pointer: string, message: string): void => {
    warnings.push({ code, pointer, message, severity: 'warning' })
  }
  if (unknown_members !== 'refuse') {
    for (const [pointer, node] of tree.nodes) {
      if (!isObject(node) || node['additionalProperties'] !== false) continue
      const message = `New members are refused here although unknown_members is "${unknown_members}": the day the provider adds one, every payload is quarantined.`
      warn('schema_closed', `/record${pointer}/additionalProperties`, message)
    }
  }
  if (!isObject(record['properties'])) warn('record_empty', '/record', 'The schema declares no member of a record.')
  personal.forEach(({ at, guessed }, index) => {
    if (!guessed) return
    warn('personal_guessed', `/personal/${index}`, `That ${at} is personal was guessed: confirm it or remove the mark.`)
  })
  return warnings
}
