/** Takes a zip file of a plugin: dropped or chosen, and sent with the form. */
import { Group, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import '@mantine/dropzone/styles.css'
import '#console/ui/registry.css'
import { useState } from 'react'
import { formatSize } from '#console/ui/file-drop.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { getKey, MAX_ZIP_BYTES, type ZipFile } from './package-text.ts'
import { readZipManifest } from './zip-manifest.ts'

interface ZipDropProps {
  readonly zip: ZipFile | null
  readonly onZip: (zip: ZipFile | null) => void
}

const readBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '')
    reader.onerror = () => reject(reader.error ?? new Error(`failed to read ${file.name}`))
    reader.readAsDataURL(file)
  })

export function ZipDrop({ zip, onZip }: ZipDropProps) {
  const [fault, setFault] = useState<string | null>(null)
  async function take([file]: readonly File[]) {
    if (!file) return
    if (file.size > MAX_ZIP_BYTES) {
      setFault(`${file.name} has ${formatSize(file.size)}; a package has at most ${formatSize(MAX_ZIP_BYTES)}.`)
      return
    }
    try {
      const base64 = await readBase64(file)
      const manifest = await readZipManifest(new Uint8Array(await file.arrayBuffer()))
      setFault(null)
      onZip({ name: file.name, size_bytes: file.size, base64, plugin_key: getKey(manifest) })
    } catch {
      setFault(`${file.name} could not be read. Choose it again.`)
    }
  }
  return (
    <Stack gap="sm">
      <Dropzone
        onDrop={take}
        multiple={false}
        maxFiles={1}
        className="drop"
        inputProps={{ 'aria-label': 'Zip file of the plugin' }}
        aria-label="Drop a zip file here, or press Enter to choose one"
      >
        <Text fw={600}>{zip === null ? 'Drop a zip file here' : 'Drop another file to replace it'}</Text>
        <Text size="sm" c="dimmed">
          or click to choose one: with plugin.json and the source, as “probity plugin pack” writes it
        </Text>
      </Dropzone>
      {fault !== null && (
        <Text size="sm" c="red" role="alert">
          {fault}
        </Text>
      )}
      {zip !== null && (
        <Group gap="xs" role="status">
          <Icon name="check" size={16} />
          <Text size="sm">
            {zip.name}, {formatSize(zip.size_bytes)}
            {zip.plugin_key === '' && '. Its manifest names no key that can be read.'}
          </Text>
        </Group>
      )}
    </Stack>
  )
}
