/** Publishing the next version of a type: it begins with the present one, and data in force is tried against it. */
import { Switch } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { typeQuery } from '#console/ui/registry-queries.ts'
import { parseContent, toDraft } from './definition.ts'
import { DefinitionForm } from './definition-form.tsx'

export default function NewVersionPage() {
  const { type_key = '' } = useParams({ strict: false }) as { type_key?: string }
  const { data: type } = useSuspenseQuery(typeQuery(type_key))
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => toDraft(type))
  const [mayBreak, setMayBreak] = useState(false)
  const publish = useApiMutation(
    () =>
      probity.POST('/api/reference-data/types/{type_key}/versions', {
        params: { path: { type_key } },
        body: { ...parseContent(draft), compatibility: mayBreak ? 'none' : 'backward' },
      }),
    {
      invalidates: ['types'],
      successMessage: ({ type_version }) => `Version ${type_version} is published`,
      onDone: () => navigate({ to: `/types/${type_key}` }),
    },
  )
  return (
    <Page
      title={`Version ${type.type_version + 1} of ${type.title}`}
      about="Versions of lists keep the type they were made with. New ones are made with this."
      trail={
        <PageLink to={`/types/${type_key}`} inherit>
          {type.title}
        </PageLink>
      }
    >
      <DefinitionForm
        draft={draft}
        onChange={setDraft}
        change={publish}
        submit="Publish the version"
        back={`/types/${type_key}`}
        last={
          <Switch
            label="Publish it even if data in force would no longer fit"
            description="What is in force stays so; its next version must fit."
            checked={mayBreak}
            onChange={(event) => setMayBreak(event.currentTarget.checked)}
          />
        }
      />
    </Page>
  )
}
