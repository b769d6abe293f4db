/** Checks a mapping before a source is read: targets that exclude each other, members that cannot exist. */
import { formatPointer, isObject } from '../content/json-pointer.ts'
import { isAppending, parseTargetSteps } from './mapping-targets.ts'

export interface OptionFault {
  /** JSON pointer into the options. */
  readonly pointer: string
  readonly detail: string
}

interface MappedValue {
  readonly pointer: string
  readonly required?: boolean
  readonly default?: unknown
  readonly split?: string
  readonly optional?: boolean
}
interface MappedElement {
  readonly pointer: string
  readonly constants?: Readonly<Record<string, unknown>>
  readonly columns?: readonly MappedValue[]
  readonly members?: readonly MappedValue[]
}
interface MappingLike {
  readonly columns?: readonly MappedValue[] | undefined
  readonly members?: readonly MappedValue[] | undefined
  readonly elements?: readonly MappedElement[] | undefined
  readonly constants?: Readonly<Record<string, unknown>> | undefined
  readonly group_rows?: { readonly by: readonly string[] } | undefined
}

/** A part of the mapping that writes to a member of the entry. */
interface Write {
  /** Its pointer in the options. */
  readonly at: string
  readonly steps: readonly string[]
  readonly appends: boolean
  readonly is_array_constant?: boolean
}

/** `options` fit their schema. */
export function findMappingFaults(options: object): OptionFault[] {
  const { columns, members, elements = [], constants = {}, group_rows } = options as MappingLike
  const list = columns ? 'columns' : 'members'
  const mappings = columns ?? members
  const values = collectValueWrites(mappings ?? [], `/${list}`)
  const fixed = collectConstantWrites(constants, '/constants')
  const arrays = elements.map(
    ({ pointer }, index): Write => ({
      at: `/elements/${index}/pointer`,
      steps: parseTargetSteps(pointer),
      appends: true,
    }),
  )
  return [
    ...findWriteFaults([...fixed, ...values, ...arrays]),
    ...findRuleFaults(mappings ?? [], `/${list}`),
    ...elements.flatMap((element, index) => findElementFaults(element, `/elements/${index}`)),
    ...(group_rows ? findGroupFaults(group_rows.by, mappings && values, arrays) : []),
  ]
}

const collectValueWrites = (mappings: readonly MappedValue[], at: string): Write[] =>
  mappings.map(({ pointer }, index) => {
    const steps = parseTargetSteps(pointer)
    const appends = isAppending(steps)
    return { at: `${at}/${index}/pointer`, steps: appends ? steps.slice(0, -1) : steps, appends }
  })

/** The members that constants write: members of objects one by one, an array as a whole. */
function collectConstantWrites(
  constants: Readonly<Record<string, unknown>>,
  at: string,
  steps: string[] = [],
): Write[] {
  return Object.entries(constants).flatMap(([name, value]): Write[] => {
    const [place, path] = [`${at}${formatPointer([name])}`, [...steps, name]]
    if (isObject(value)) return collectConstantWrites(value, place, path)
    return [{ at: place, steps: path, appends: false, is_array_constant: Array.isArray(value) }]
  })
}

function findWriteFaults(writes: readonly Write[]): OptionFault[] {
  const faults: OptionFault[] = []
  const taken = new Map<string, Write>()
  const inner = new Map<string, Write>()
  for (const write of writes) {
    const { at, steps } = write
    if (steps.includes('__proto__')) faults.push({ pointer: at, detail: 'names a member "__proto__", which cannot be' })
    else if (steps.length > 1 && steps.slice(0, -1).includes('-')) {
      faults.push({ pointer: at, detail: 'has "-" before its end; use elements for members of an array’s elements' })
    }
    // The member that holds the remaining columns has no target of its own.
    if (steps.length === 0) continue
    const place = formatPointer(steps)
    const same = taken.get(place)
    const around = steps
      .slice(0, -1)
      .map((_, count) => taken.get(formatPointer(steps.slice(0, count + 1))))
      .find((found) => found !== undefined)
    const other = (same && !canShare(same, write) ? same : undefined) ?? around ?? inner.get(place)
    if (other) faults.push({ pointer: at, detail: `writes to ${place}, and so does ${other.at}` })
    if (!same) taken.set(place, write)
    for (let count = 1; count < steps.length; count++) {
      const outer = formatPointer(steps.slice(0, count))
      if (!inner.has(outer)) inner.set(outer, write)
    }
  }
  return faults
}

const canShare = (one: Write, other: Write): boolean =>
  (one.appends || one.is_array_constant === true) && (other.appends || other.is_array_constant === true)

const findRuleFaults = (mappings: readonly MappedValue[], at: string): OptionFault[] =>
  mappings.flatMap(({ required, default: fallback }, index) =>
    required && fallback !== undefined
      ? [{ pointer: `${at}/${index}/default`, detail: 'is never used, since the value is required' }]
      : [],
  )

function findElementFaults(element: MappedElement, at: string): OptionFault[] {
  const list = element.columns ? 'columns' : 'members'
  const mappings = element.columns ?? element.members ?? []
  const split = mappings.flatMap((mapping, index) => (mapping.split === undefined ? [] : [index]))
  const appended = collectValueWrites(mappings, `${at}/${list}`).filter(({ appends }) => appends)
  return [
    ...findWriteFaults([
      ...collectConstantWrites(element.constants ?? {}, `${at}/constants`),
      ...collectValueWrites(mappings, `${at}/${list}`),
    ]),
    ...findRuleFaults(mappings, `${at}/${list}`),
    ...appended.map((write) => ({ pointer: write.at, detail: 'appends; an element holds one value in each member' })),
    ...(isAppending(parseTargetSteps(element.pointer))
      ? [{ pointer: `${at}/pointer`, detail: 'ends in "-"; name the array itself' }]
      : []),
    ...split
      .slice(1)
      .map((index) => ({ pointer: `${at}/${list}/${index}/split`, detail: 'is the second split of the element' })),
  ]
}

/** `values` are absent when the mapping is derived from the type. */
function findGroupFaults(by: readonly string[], values: readonly Write[] | undefined, arrays: readonly Write[]) {
  return by.flatMap((pointer, index): OptionFault[] => {
    const place = formatPointer(parseTargetSteps(pointer))
    const refuse = (detail: string) => [{ pointer: `/group_rows/by/${index}`, detail }]
    const writes = (list: readonly Write[]) => list.find(({ steps }) => formatPointer(steps) === place)
    const write = writes(values ?? []) ?? writes(arrays)
    if (write?.appends) return refuse(`names an array: ${write.at} appends to ${place}`)
    return values === undefined || write ? [] : refuse(`names ${place}, which nothing is mapped to`)
  })
}
