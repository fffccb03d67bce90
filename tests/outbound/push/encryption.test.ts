import { expect, test } from "bun:test";
import { encrypted } from "../../../src/outbound/push/encryption.ts";

const bytes = (text: string) => Buffer.from(text, "base64url");

test("a message is encrypted as the example of RFC 8291 is", () => {
  const browser = {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const own = {
    salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"),
    privateKey: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
  };
  const message = encrypted("When I grow up, I want to be a watermelon", browser, 0, own);
  expect(message.toString("base64url")).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});
