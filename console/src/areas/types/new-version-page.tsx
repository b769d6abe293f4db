/** Publishes the next version of a type, checked against the data in force. */
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
      successMessage: ({ type_version }) => `Version ${type_version} published`,
      onDone: () => navigate({ to: `/types/${type_key}` }),
    },
  )
  return (
    <Page
      title={`Version ${type.type_version + 1} of ${type.title}`}
      about="Existing list versions keep their type version. New list versions use this one."
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
        submit="Publish version"
        back={`/types/${type_key}`}
        last={
          <Switch
            label="Publish even if data in force is incompatible"
            description="Versions in force are not affected; their next versions must match."
            checked={mayBreak}
            onChange={(event) => setMayBreak(event.currentTarget.checked)}
          />
        }
      />
    </Page>
  )
}
