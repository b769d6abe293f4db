/** Where the page of a list, matrix or rule is. */
const folders = { list: '/datasets', matrix: '/matrices', rule: '/rules' } as const

export const getDefinitionPath = ({ family, key }: { readonly family: keyof typeof folders; readonly key: string }) =>
  `${folders[family]}/${key}`
