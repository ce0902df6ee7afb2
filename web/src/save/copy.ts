// SPDX-License-Identifier: MIT
// Copying, which browsers may refuse: without a secure context, in a frame, or because the visitor said so.

/** Whether it is on the clipboard now. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The same for a field's text, which is left selected where it could not be copied. */
export async function copyField(id: string): Promise<boolean> {
  const field = document.getElementById(id) as HTMLInputElement;
  const copied = await copyText(field.value);
  if (!copied) {
    field.focus();
    field.select();
  }
  return copied;
}
