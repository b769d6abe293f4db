/** The part of WebAssembly that the sandbox uses: the types of Node 20 do not declare it. */
export interface WasmModule {
  readonly [Symbol.toStringTag]?: 'WebAssembly.Module'
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => WasmModule
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
