/** The adapter of an import and its options: as detected until a person chooses. */
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { mergeOptions, type Options, splitOptions } from './adapter-options.tsx'
import type { Candidate } from './detection.tsx'

type Adapter = Schemas['Adapter']

interface AdapterChoice {
  readonly adapter_key: string | null
  readonly options: Options
  /** The structured options as JSON text. */
  readonly rich: string
}

const NOTHING: AdapterChoice = { adapter_key: null, options: {}, rich: '' }

/** `best` is what the server ranks first: the way the last file was read where that fits as well as any other. */
export function useAdapterChoice(adapters: readonly Adapter[], best: Candidate | undefined) {
  const [own, setOwn] = useState<AdapterChoice | null>(null)
  const find = (adapter_key: string | null) => adapters.find((one) => one.adapter_key === adapter_key)
  const toChoice = ({ adapter_key, options }: Candidate): AdapterChoice => {
    const { plain, rich } = splitOptions(find(adapter_key)?.options ?? {}, options)
    return { adapter_key, options: plain, rich }
  }
  const choice = own ?? (best ? toChoice(best) : NOTHING)
  return {
    adapter: find(choice.adapter_key),
    options: choice.options,
    rich: choice.rich,
    /** Null while the JSON text is not an object. */
    chosen: mergeOptions(choice.options, choice.rich),
    /** Null returns to what was detected. */
    choose: (adapter_key: string | null) => setOwn(adapter_key === null ? null : { ...NOTHING, adapter_key }),
    useCandidate: (candidate: Candidate) => setOwn(toChoice(candidate)),
    // Options belong to the adapter that they were entered for, also when another file is chosen.
    changeOptions: (options: Options) => setOwn({ ...choice, options }),
    changeRich: (rich: string) => setOwn({ ...choice, rich }),
  }
}

const toComparable = (options: Options): string =>
  JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)))

export const isSameOptions = (a: Options, b: Options | null): boolean => toComparable(a) === toComparable(b ?? {})
