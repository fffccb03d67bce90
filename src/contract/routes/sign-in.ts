import { z } from "zod";
import { Caller, SignedIn, SignInBody, SignInCode } from "../sign-in.ts";
import { route } from "./declaration/route.ts";

export const SignedOut = z.object({ type: z.enum(["signed_out", "not_signed_in"]) });

export const signIn = route("POST", "/api/v1/sign-in", { body: SignInBody, answer: SignedIn });
export const whoAmI = route("GET", "/api/v1/me", { answer: Caller });
export const createCode = route("POST", "/api/v1/me/codes", { answers: { 201: SignInCode } });
export const signOut = route("POST", "/api/v1/me/sign-out", { answer: SignedOut });
