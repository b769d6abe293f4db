/** Uploads a version of a plugin: from a file, typed, or as a correction of an earlier version. */
import { Button, Group, Stack } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { sortManifest } from '#console/ui/plugin/plugin-manifest.ts'
import { pluginQuery } from '#console/ui/plugin/plugin-queries.ts'
import type { Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { toSearch } from '#console/ui/search-link.tsx'
import { PackageForm } from './package-form.tsx'
import { blankDraft, type PackageDraft, raiseVersion, toUpload } from './package-text.ts'
import { PluginGuide } from './plugin-guide.tsx'

export default function NewVersionPage() {
  const { key: plugin_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: plugin } = useSuspenseQuery(pluginQuery(plugin_key, 'own'))
  return (
    <Page
      title={`New version of ${plugin.title}`}
      about="The package is validated at once. The version in force does not change by this."
      trail={
        <>
          <PageLink to="/plugins" inherit>
            Plugins
          </PageLink>{' '}
          /{' '}
          <PageLink to={`/plugins/${plugin_key}`} inherit>
            {plugin.title}
          </PageLink>
        </>
      }
      width="text"
    >
      <Stack gap="md">
        <UploadForm plugin={plugin} />
        <PluginGuide />
      </Stack>
    </Page>
  )
}

function UploadForm({ plugin }: { readonly plugin: Plugin }) {
  const navigate = useNavigate()
  const { plugin_key } = plugin
  const [draft, setDraft] = useState(blankDraft)
  const [stored, setStored] = useState<{ draft: PackageDraft; version: Schemas['PluginVersion'] } | null>(null)
  const body = toUpload(draft)
  const upload = useApiMutation(
    () => probity.POST('/api/plugins/{plugin_key}/versions', { params: { path: { plugin_key } }, body: { ...body } }),
    {
      invalidates: ['definitions'],
      onDone: (version) => {
        setStored({ draft, version })
        if (version.reasons.length === 0)
          navigate({ to: `/plugins/${plugin_key}`, search: toSearch({ tab: 'versions', origin: 'own' }) })
      },
    },
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (body !== null) upload.run(undefined)
      }}
    >
      <Stack gap="md">
        <PackageForm
          draft={draft}
          onChange={setDraft}
          uploaded={stored?.version ?? null}
          isStale={stored !== null && stored.draft !== draft}
          starts={<StartFromVersion plugin={plugin} onText={(text) => setDraft({ ...draft, ...text })} />}
        />
        <ProblemNote problem={upload.problem} />
        <Group>
          <Button type="submit" loading={upload.isRunning} disabled={body === null || stored?.draft === draft}>
            Upload
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface StartFromVersionProps {
  readonly plugin: Plugin
  readonly onText: (text: Pick<PackageDraft, 'manifest' | 'source'>) => void
}

/** Reads the newest version with its source, which is recorded. */
function StartFromVersion({ plugin, onText }: StartFromVersionProps) {
  const may = usePermission()
  const { plugin_key, head_version } = plugin
  const params = {
    path: { plugin_key, version: String(head_version) },
    query: { origin: 'own' as const },
  }
  const read = useApiMutation(
    async () => {
      const version = await probity.GET('/api/plugins/{plugin_key}/versions/{version}', { params })
      const source = await probity.GET('/api/plugins/{plugin_key}/versions/{version}/source', { params })
      return { version, source }
    },
    { invalidates: [], onDone: ({ version, source }) => onText(toTexts(version, source)) },
  )
  if (head_version === 0 || !may('getPluginSource')) return null
  return (
    <>
      <Button size="xs" variant="default" loading={read.isRunning} onClick={() => read.run(undefined)}>
        Start from version {head_version}
      </Button>
      <ProblemNote problem={read.problem} />
    </>
  )
}

function toTexts(
  { manifest, examples }: Schemas['PluginVersion'],
  { entry, files }: Schemas['PluginSource'],
): Pick<PackageDraft, 'manifest' | 'source'> {
  const { version, ...rest } = manifest ?? {}
  const whole = { ...sortManifest({ ...rest, version: raiseVersion(version) }), examples }
  return {
    manifest: JSON.stringify(whole, null, 2),
    source: (files.find(({ path }) => path === entry) ?? files[0])?.text ?? '',
  }
}
