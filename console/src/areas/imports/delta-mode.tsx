/** Whether a file is the whole list or holds the publisher's changes only, and how it says what is removed. */
import { SegmentedControl, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import type { Dataset } from '#console/ui/registry-queries.ts'
import type { Delta } from './import-request.ts'

export interface DeltaForm {
  readonly is_delta: boolean
  readonly pointer: string
  readonly values: readonly string[]
  readonly keys: readonly string[]
}
export const FULL_FILE: DeltaForm = { is_delta: false, pointer: '', values: [], keys: [] }

/** Null: the file is the whole list. */
export function toDelta({ is_delta, pointer, values, keys }: DeltaForm, base_version: number): Delta | null {
  if (!is_delta) return null
  const marker = pointer !== '' && values.length > 0 ? { pointer: toPointer(pointer), values: [...values] } : undefined
  const removed = { ...(marker && { marker }), ...(keys.length > 0 && { keys: [...keys] }) }
  return { base_version, ...(Object.keys(removed).length > 0 && { removed }) }
}

/** People write the name of a column. */
const toPointer = (text: string): string => (text.startsWith('/') ? text : `/${text}`)

interface DeltaModeProps {
  readonly dataset: Dataset
  readonly value: DeltaForm
  readonly onChange: (value: DeltaForm) => void
}

export function DeltaMode({ dataset, value, onChange }: DeltaModeProps) {
  if (dataset.head_version === 0) return null
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="What the file holds"
        maw={420}
        value={value.is_delta ? 'delta' : 'full'}
        data={[
          { value: 'full', label: 'Full file' },
          { value: 'delta', label: 'Changes only' },
        ]}
        onChange={(mode) => onChange({ ...value, is_delta: mode === 'delta' })}
      />
      {value.is_delta && (
        <>
          <Text size="sm">
            The file holds added and changed entries. All others stay as in version {dataset.head_version}, the newest
            one.
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            <TextInput
              label="Member that marks removed rows"
              placeholder="action"
              maxLength={200}
              value={value.pointer}
              onChange={(event) => onChange({ ...value, pointer: event.currentTarget.value.trim() })}
            />
            <TagsInput
              label="Its values for removed"
              placeholder="D"
              value={[...value.values]}
              onChange={(values) => onChange({ ...value, values })}
            />
          </SimpleGrid>
          <TagsInput
            label="Keys of further entries to remove"
            value={[...value.keys]}
            onChange={(keys) => onChange({ ...value, keys })}
          />
        </>
      )}
    </Stack>
  )
}
