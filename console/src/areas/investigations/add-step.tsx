/** Adds a step to a case: a call of a provider, a decision, or a task of a person. */
import { MultiSelect, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { definitionsQuery, getDefinitionKey, matrixKind, ruleKind } from '#console/ui/decision/definition-kind.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toKey, toSentence } from '#console/ui/format.ts'
import { TextField } from '#console/ui/text-field.tsx'
import { type Investigation, touchedByEvidence } from './investigation-queries.ts'
import { ProviderStepFields, useProviderStep } from './provider-step-fields.tsx'
import { ChecklistField, RequiredField } from './task-fields.tsx'

interface AddStepProps {
  readonly investigation: Investigation
  readonly onClose: () => void
}

type Kind = 'task' | 'provider' | 'evaluation'
type Settings = Readonly<Record<string, unknown>>

const kinds = [
  { value: 'task', label: 'A task of a person' },
  { value: 'provider', label: 'A call of a provider' },
  { value: 'evaluation', label: 'A decision of a matrix or rule' },
] as const

/** Unique in the case, and readable in the record. */
function toStepKey(title: string, taken: readonly string[]): string {
  const key = toKey(title) || 'step'
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? key : `${key.slice(0, 90)}-${number}`
    if (!taken.includes(wanted)) return wanted
  }
}

export function AddStep({ investigation, onClose }: AddStepProps) {
  const { investigation_id, steps } = investigation
  const provider = useProviderStep(investigation)
  const [kind, setKind] = useState<Kind>('task')
  const [title, setTitle] = useState('')
  const [settings, setSettings] = useState<Settings | null>(null)
  const [needs, setNeeds] = useState<string[]>([])
  const [is_required, setRequired] = useState(false)
  const add = useApiMutation(
    (wanted: Settings) =>
      probity.POST('/api/investigations/{investigation_id}/steps', {
        params: { path: { investigation_id } },
        body: {
          step_key: toStepKey(
            title,
            steps.map(({ step_key }) => step_key),
          ),
          kind,
          title,
          with: kind === 'task' ? { title, ...wanted } : wanted,
          needs,
          is_required,
        },
      }),
    { invalidates: touchedByEvidence, successMessage: 'Step added', onDone: onClose },
  )
  function submit() {
    const given =
      kind === 'task' ? { role: 'analyst', ...settings } : kind === 'provider' ? provider.toSettings() : settings
    if (given !== null) add.run(given)
  }
  return (
    <FormDialog title="Add a step" isOpen onClose={onClose} onSubmit={submit} submit="Add the step" change={add}>
      <Select
        label="What happens in it"
        allowDeselect={false}
        data-autofocus
        data={kinds}
        value={kind}
        onChange={(next) => {
          if (next !== null) setKind(next)
          setSettings(null)
        }}
      />
      <TextField label="Title" isRequired max={200} value={title} onChange={setTitle} />
      {kind === 'task' && <TaskSettings settings={settings} onChange={setSettings} />}
      {kind === 'provider' && <ProviderStepFields step={provider} problem={add.problem} />}
      {kind === 'evaluation' && <DecisionSettings settings={settings} onChange={setSettings} />}
      <MultiSelect
        label="Begins after"
        description="Leave it empty to start at once."
        data={steps.map(({ step_key, title: name }) => ({ value: step_key, label: name ?? step_key }))}
        value={needs}
        onChange={setNeeds}
      />
      <RequiredField isRequired={is_required} onChange={setRequired} />
    </FormDialog>
  )
}

interface SettingsProps {
  readonly settings: Settings | null
  readonly onChange: (settings: Settings | null) => void
}

const roles = ['analyst', 'compliance_officer'].map((role) => ({ value: role, label: toSentence(role) }))

function TaskSettings({ settings, onChange }: SettingsProps) {
  return (
    <>
      <Select
        label="Who does it"
        allowDeselect={false}
        data={roles}
        value={String(settings?.['role'] ?? 'analyst')}
        onChange={(role) => onChange({ ...settings, role })}
      />
      <ChecklistField onChange={(checklist) => onChange({ ...settings, checklist })} />
    </>
  )
}

function DecisionSettings({ settings, onChange }: SettingsProps) {
  const may = usePermission()
  const { data: matrices } = useQuery({ ...definitionsQuery(matrixKind), enabled: may('listRiskMatrices') })
  const { data: rules } = useQuery({ ...definitionsQuery(ruleKind), enabled: may('listRules') })
  const toChoices = (type: 'matrix' | 'rule', offered: typeof matrices) =>
    (offered ?? [])
      .filter(({ active }) => active !== null)
      .map((one) => ({ value: `${type} ${getDefinitionKey(one)}`, label: one.title }))
  const [chosenType, chosenKey] = Object.entries(settings ?? {})[0] ?? []
  return (
    <Select
      label="Matrix or rule"
      required
      searchable
      nothingFoundMessage="Nothing of this name is in force"
      data={[
        { group: 'Matrices', items: toChoices('matrix', matrices) },
        { group: 'Rules', items: toChoices('rule', rules) },
      ]}
      value={chosenType === undefined ? null : `${chosenType} ${String(chosenKey)}`}
      onChange={(chosen) => {
        const [type = '', key] = (chosen ?? '').split(' ')
        onChange(chosen === null ? null : { [type]: key })
      }}
    />
  )
}
