/** Where the page of a list or definition is. */
const folders = {
  list: '/datasets',
  matrix: '/matrices',
  rule: '/rules',
  contract: '/source-contracts',
  provider: '/providers',
  plugin: '/plugins',
  playbook: '/playbooks',
} as const

export const getDefinitionPath = ({ family, key }: { readonly family: keyof typeof folders; readonly key: string }) =>
  `${folders[family]}/${key}`
