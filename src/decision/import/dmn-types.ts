/** The types of a DMN file that inputs of rules support: simple types, allowed values, and lists of texts. */
import { getAttribute, getChild, getChildText, type XmlElement } from '#registry/formats/xml.ts'
import { type LiteralKind, parseTests, parseValues } from './cell.ts'
import { excerpt, UnsupportedConstruct } from './import-result.ts'
import type { ForeignColumn } from './rule-table.ts'

type ColumnType = Pick<ForeignColumn, 'kind' | 'many' | 'values' | 'minimum' | 'maximum'>

const SIMPLE = new Map<string, LiteralKind>([
  ['string', 'text'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['date', 'date'],
])
const MAX_DEPTH = 10
const RANGE = /^\[(.+)\.\.(.+)\]$/

export class DmnTypes {
  private readonly items: ReadonlyMap<string, XmlElement>
  private readonly inputs: ReadonlyMap<string, XmlElement>

  constructor(items: readonly { element: XmlElement }[], inputs: readonly { element: XmlElement }[]) {
    const byName = (found: readonly { element: XmlElement }[]) =>
      new Map(found.map(({ element }) => [getAttribute(element, 'name') ?? '', element]))
    this.items = byName(items)
    this.inputs = byName(inputs)
  }

  getInputType(name: string): string | undefined {
    const variable = getChild(this.inputs.get(name) ?? EMPTY, 'variable')
    return variable && getAttribute(variable, 'typeRef')
  }

  /** Empty when the file names none; then the cells determine the type. */
  resolve(type_ref: string | undefined, place: string, depth = 0): ColumnType {
    const name = localName(type_ref ?? '')
    if (name === '' || name === 'Any') return {}
    const kind = SIMPLE.get(name)
    if (kind) return { kind }
    const item = this.items.get(type_ref ?? '') ?? this.items.get(name)
    if (!item || depth === MAX_DEPTH || getChild(item, 'itemComponent')) {
      throw new UnsupportedConstruct(
        'type_refused',
        place,
        `the type ${excerpt(name)} is not text, number, boolean or date.`,
      )
    }
    const base = this.resolve(getChildText(item, 'typeRef'), place, depth + 1)
    const allowed = getChild(item, 'allowedValues')
    const parseLimits = allowed ? this.limited(getChildText(allowed, 'text') ?? '', base.kind, place) : {}
    return { ...base, ...parseLimits, ...(getAttribute(item, 'isCollection') === 'true' && { many: true }) }
  }

  getAllowedText(type_ref: string | undefined): string | undefined {
    const item = this.items.get(type_ref ?? '')
    const allowed = item && getChild(item, 'allowedValues')
    return allowed && getChildText(allowed, 'text')
  }

  /** Listed texts become the values of the input, a closed range its limits. */
  limited(text: string, kind: LiteralKind | undefined, place: string): ColumnType {
    if (text === '' || text === '-') return {}
    const values = parseValues(text, 'feel')
    if (values?.every((value) => value.kind === 'text')) {
      if (kind === undefined || kind === 'text') return { kind: 'text', values: values.map((value) => value.text) }
    }
    if (values && kind === 'boolean') return {}
    const range = RANGE.exec(parseTests(text, 'feel', place).test)
    if (!range || (kind !== 'number' && kind !== 'date')) {
      throw new UnsupportedConstruct(
        'allowed_values_refused',
        place,
        `allowed values ${excerpt(text)} are neither texts nor a range.`,
      )
    }
    return { kind, minimum: unquote(range[1] as string), maximum: unquote(range[2] as string) }
  }
}

const EMPTY: XmlElement = { name: '', attributes: {}, children: [], text: '' }
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
const unquote = (literal: string): string => /^date\("(.+)"\)$/.exec(literal)?.[1] ?? literal
