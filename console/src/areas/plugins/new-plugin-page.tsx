/** Uploads a new plugin as its first version. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { pluginsQuery } from '#console/ui/plugin/plugin-queries.ts'
import type { Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { PackageForm } from './package-form.tsx'
import { blankDraft, getDraftKey, type PackageDraft, toUpload } from './package-text.ts'
import { PluginGuide } from './plugin-guide.tsx'

interface StoredUpload {
  readonly draft: PackageDraft
  readonly version: Schemas['PluginVersion']
}

/** The plugin of the tenant with this key, if there is one: a shared one may have the same key. */
function useOwnPlugin(plugin_key: string): Plugin | undefined {
  const { data } = useQuery({ ...pluginsQuery, throwOnError: false })
  return data?.find((one) => one.origin === 'own' && one.plugin_key === plugin_key)
}

const describeKey = (namedKey: string): string =>
  namedKey === ''
    ? 'Lower-case letters, digits, hyphens and underscores, as in the manifest'
    : 'The key that the manifest names'

export default function NewPluginPage() {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(blankDraft)
  const [typedKey, setTypedKey] = useState('')
  const [stored, setStored] = useState<StoredUpload | null>(null)
  const namedKey = getDraftKey(draft)
  const plugin_key = stored?.version.plugin_key ?? (namedKey || typedKey)
  const existing = useOwnPlugin(plugin_key)
  const isNew = stored === null && existing === undefined
  const body = toUpload(draft)
  const upload = useApiMutation(
    () =>
      isNew
        ? probity.POST('/api/plugins', { body: { plugin_key, ...body } })
        : probity.POST('/api/plugins/{plugin_key}/versions', { params: { path: { plugin_key } }, body: { ...body } }),
    {
      invalidates: ['definitions'],
      onDone: (version) => {
        setStored({ draft, version })
        if (version.reasons.length === 0) navigate({ to: `/plugins/${plugin_key}` })
      },
    },
  )
  const faults = faultsByField(upload.problem)
  return (
    <Page
      title="New plugin"
      about="The package is validated at once. Nothing runs it before a version is put in force."
      trail={
        <PageLink to="/plugins" inherit>
          Plugins
        </PageLink>
      }
      width="text"
    >
      <Stack gap="md">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (body !== null && plugin_key !== '') upload.run(undefined)
          }}
        >
          <Stack gap="md">
            <PackageForm
              draft={draft}
              onChange={setDraft}
              uploaded={stored?.version ?? null}
              isStale={stored !== null && stored.draft !== draft}
            />
            <TextInput
              label="Key"
              description={`${describeKey(namedKey)}. It cannot be changed later.`}
              required
              readOnly={stored !== null || namedKey !== ''}
              maxLength={100}
              classNames={{ input: 'mono' }}
              value={plugin_key}
              error={faults['plugin_key']}
              onChange={(event) => setTypedKey(event.currentTarget.value)}
            />
            {stored === null && existing !== undefined && <ExistingNote plugin={existing} />}
            <ProblemNote problem={upload.problem} />
            <Group gap="xs">
              <Button type="submit" loading={upload.isRunning} disabled={body === null || stored?.draft === draft}>
                {isNew ? 'Upload' : 'Upload as a new version'}
              </Button>
              {stored !== null && (
                <ButtonLink to={`/plugins/${plugin_key}`} variant="default">
                  Open the plugin
                </ButtonLink>
              )}
            </Group>
          </Stack>
        </form>
        <PluginGuide />
      </Stack>
    </Page>
  )
}

function ExistingNote({ plugin: { plugin_key, title } }: { readonly plugin: Plugin }) {
  return (
    <Alert color="blue" title="This plugin exists" role="status">
      <Text size="sm">
        <PageLink to={`/plugins/${plugin_key}`} inherit>
          {title}
        </PageLink>{' '}
        has this key. The package becomes a new version of it; the version in force does not change by this.
      </Text>
    </Alert>
  )
}
