/** Creates a matrix, rule or playbook with an empty draft or a copy of another definition. */
import { Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '../api-mutation.ts'
import {
  type DefinitionItem,
  getDefinitionKey,
  type ListedKind,
  toApiPath,
  toPathParams,
} from '../decision/definition-kind.ts'
import { FormDialog } from '../dialog.tsx'
import { faultsByField } from '../problem-texts.ts'

const blank = { key: '', title: '', from: null as string | null }

/** The initial content of an empty draft. */
const emptyDrafts = {
  matrix: {
    inputs: [],
    factors: [],
    aggregation: 'weighted_sum',
    bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
    triggers: [],
  },
  rule: {
    inputs: [],
    table: { hit_policy: 'first', columns: [], outputs: [], rows: [] },
    reason_code: '',
    reason: '',
  },
  playbook: { title: '', subject_types: ['person'], facts: [], clocks: [], steps: [], outcomes: [] },
} as const

interface NewDefinitionProps {
  readonly kind: ListedKind
  readonly all: readonly DefinitionItem[]
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewDefinition({ kind, all, isOpen, onClose }: NewDefinitionProps) {
  const navigate = useNavigate()
  const [order, setOrder] = useState(blank)
  const make = useApiMutation(
    () => {
      const { key, title, from } = order
      const text = from === null ? { definition: emptyDrafts[kind.family] } : { from_key: from }
      return probity.POST(toApiPath(kind, '/api/risk-matrices'), {
        body: { ...toPathParams(kind, key), title, ...text },
      })
    },
    {
      invalidates: ['definitions'],
      onDone: (made) => navigate({ to: `${kind.basePath}/${getDefinitionKey(made)}/draft` }),
    },
  )
  const faults = faultsByField(make.problem)
  function close() {
    setOrder(blank)
    make.reset()
    onClose()
  }
  const choices = all
    .filter(({ active }) => active !== null)
    .map((one) => ({ value: getDefinitionKey(one), label: `${one.title} (${getDefinitionKey(one)})` }))
  return (
    <FormDialog
      title={`New ${kind.word}`}
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => make.run(undefined)}
      submit="Create"
      change={make}
    >
      <TextInput
        data-autofocus
        label="Title"
        required
        maxLength={200}
        value={order.title}
        error={faults['title']}
        onChange={(event) => setOrder({ ...order, title: event.currentTarget.value })}
      />
      <TextInput
        label="Key"
        description="Lower-case letters, digits and hyphens. With the key of a shared definition, yours replaces it once it is in force."
        required
        maxLength={100}
        classNames={{ input: 'mono' }}
        value={order.key}
        error={faults[kind.param]}
        onChange={(event) => setOrder({ ...order, key: event.currentTarget.value })}
      />
      <Select
        label="Start from"
        placeholder="Empty draft"
        clearable
        searchable
        data={[...new Map(choices.map((choice) => [choice.value, choice])).values()]}
        value={order.from}
        onChange={(from) => setOrder({ ...order, from })}
        clearButtonProps={{ 'aria-label': 'Start from an empty draft' }}
      />
    </FormDialog>
  )
}
