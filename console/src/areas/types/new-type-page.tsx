/** Creates a type of this tenant. */
import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { takeTypeDraft } from '#console/ui/type-draft.ts'
import { blank, parseContent, toDraft } from './definition.ts'
import { DefinitionForm } from './definition-form.tsx'

export default function NewTypePage() {
  const navigate = useNavigate()
  // A proposal from an import, made of the columns of its file.
  const [proposed] = useState(takeTypeDraft)
  const [type_key, setKey] = useState(String(proposed?.['type_key'] ?? ''))
  // Written by the import page from the answer of the detection.
  const [draft, setDraft] = useState(proposed ? toDraft(proposed as never) : blank)
  const create = useApiMutation(
    () => probity.POST('/api/reference-data/types', { body: { type_key, ...parseContent(draft) } }),
    {
      invalidates: ['types'],
      successMessage: ({ title }) => `${title} created`,
      onDone: (type) => navigate({ to: `/types/${type.type_key}` }),
    },
  )
  return (
    <Page
      title="New type"
      about="Schema, key, fields and examples are validated together before the type is stored."
      trail={
        <PageLink to="/types" inherit>
          Types
        </PageLink>
      }
    >
      <DefinitionForm
        draft={draft}
        onChange={setDraft}
        change={create}
        submit="Create type"
        back="/types"
        first={
          <TextInput
            label="Name"
            description="Lower-case letters, digits and hyphens; cannot be changed later"
            required
            maxLength={100}
            autoComplete="off"
            placeholder="country-rating"
            value={type_key}
            error={faultsByField(create.problem)['type_key']}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
        }
      />
    </Page>
  )
}
