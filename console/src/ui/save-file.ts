/** Saves data as a file in the browser. */

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

export const saveJson = (name: string, value: unknown): void =>
  saveFile(name, new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }))

/** Formats an instant for a file name. */
export const toFileTimestamp = (at: string): string => at.slice(0, 19).replaceAll(':', '')
