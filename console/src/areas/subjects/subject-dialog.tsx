/** Creates or edits a subject: its record and the inputs that matrices declare. Other attributes are edited as JSON. */
import { Anchor, Divider, Select, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { type Inputs, InputsForm } from '#console/ui/decision/inputs-form.tsx'
import { useDeclaredInputs } from '#console/ui/decision/subject-matrices.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { isJson } from '#console/ui/json-position.ts'
import { faultsByField } from '#console/ui/problem-texts.ts'

type Subject = Schemas['Subject']

interface SubjectDialogProps {
  /** Null for a new subject. */
  readonly subject: Subject | null
  readonly onClose: () => void
}

const toJson = (attributes: object): string => JSON.stringify(attributes, null, 2)

export function SubjectDialog({ subject, onClose }: SubjectDialogProps) {
  const navigate = useNavigate()
  const [order, setOrder] = useState({
    subject_type: subject?.subject_type ?? ('person' as Subject['subject_type']),
    name: subject?.name ?? '',
    external_id: subject?.external_id ?? '',
    segment: subject?.segment ?? '',
    attributes: toJson(subject?.attributes ?? {}),
  })
  const save = useApiMutation(
    () => {
      const body = {
        subject_type: order.subject_type,
        name: order.name,
        ...(order.external_id !== '' && { external_id: order.external_id }),
        segment: order.segment === '' ? null : order.segment,
        attributes: JSON.parse(order.attributes),
      }
      return subject === null
        ? probity.POST('/api/subjects', { body })
        : probity.PATCH('/api/subjects/{subject_id}', {
            params: { path: { subject_id: subject.subject_id } },
            body: { ...body, expected_revision: subject.revision },
          })
    },
    {
      invalidates: ['subjects'],
      successMessage: subject === null ? 'Subject created' : 'Subject updated',
      onDone: ({ subject_id }) => {
        onClose()
        navigate({ to: `/subjects/${subject_id}` })
      },
    },
  )
  const faults = faultsByField(save.problem)
  const field = (name: 'name' | 'external_id' | 'segment', label: string, isRequired = false) => (
    <TextInput
      label={label}
      required={isRequired}
      autoComplete="off"
      value={order[name]}
      error={faults[name]}
      onChange={(event) => setOrder({ ...order, [name]: event.currentTarget.value })}
    />
  )
  return (
    <FormDialog
      title={subject === null ? 'New subject' : `Edit ${subject.name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => isJson(order.attributes) && save.run(undefined)}
      submit={subject === null ? 'Create' : 'Save'}
      change={save}
      size="lg"
    >
      <Select
        label="Type"
        allowDeselect={false}
        data={['person', 'company', 'other']}
        value={order.subject_type}
        onChange={(chosen) => chosen && setOrder({ ...order, subject_type: chosen as Subject['subject_type'] })}
      />
      {field('name', 'Name', true)}
      {field('external_id', 'External id')}
      {field('segment', 'Segment')}
      <AttributeFields
        subject_type={order.subject_type}
        json={order.attributes}
        fault={faults['attributes']}
        onChange={(attributes) => setOrder({ ...order, attributes })}
      />
    </FormDialog>
  )
}

interface AttributeFieldsProps {
  readonly subject_type: string
  readonly json: string
  readonly fault: string | undefined
  readonly onChange: (json: string) => void
}

/** Both ways edit one text, so that attributes without an input of their own are kept. */
function AttributeFields({ subject_type, json, fault, onChange }: AttributeFieldsProps) {
  const inputs = useDeclaredInputs(subject_type)
  const [isAdvanced, advanced] = useDisclosure(false)
  const isValid = isJson(json)
  const values = isValid ? (JSON.parse(json) as Inputs) : {}
  const hasForm = inputs !== null && inputs.length > 0
  // Hidden while the inputs load: the form that then appears would push it down while a person types.
  const isOpen = isAdvanced || inputs?.length === 0 || !isValid || fault !== undefined
  return (
    <>
      <Divider />
      {hasForm && isValid && (
        <>
          <Text size="sm" c="dimmed">
            What matrices read of this subject. An empty field can be filled in later.
          </Text>
          <InputsForm inputs={inputs} values={values} onChange={(changed) => onChange(toJson(changed))} />
        </>
      )}
      {hasForm && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          w="fit-content"
          aria-expanded={isOpen}
          onClick={advanced.toggle}
        >
          Advanced
        </Anchor>
      )}
      {isOpen && (
        <Textarea
          label="Attributes"
          description="All values for matrices and rules: a JSON object keyed by input name."
          autosize
          minRows={4}
          maxRows={16}
          spellCheck={false}
          classNames={{ input: 'mono' }}
          value={json}
          error={isValid ? fault : 'This is not valid JSON.'}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </>
  )
}
